// For each kernel two exported functions: its signature as text, and its launch with
// arguments given as an array of pointers to their values, as cuLaunchKernel has them.
#pragma once
#include <string>
#include <type_traits>
#include <utility>

#include "runtime.h"

namespace shim {

// The codes are NumPy's (i4, f8, c16), with * before what is pointed to.
template <class T>
std::string type_code() {
  if constexpr (std::is_pointer_v<T>) {
    return "*" + type_code<std::remove_cv_t<std::remove_pointer_t<T>>>();
  } else if constexpr (std::is_void_v<T>) {
    return "v";
  } else if constexpr (std::is_same_v<T, bool>) {
    return "b1";
  } else if constexpr (std::is_floating_point_v<T>) {
    return "f" + std::to_string(sizeof(T));
  } else if constexpr (std::is_integral_v<T>) {
    return (std::is_unsigned_v<T> ? "u" : "i") + std::to_string(sizeof(T));
  } else {
    // Vector types: NumPy has no word for them, so only the size is compared.
    static_assert(std::is_trivially_copyable_v<T>, "a kernel parameter must be plain");
    return "V" + std::to_string(sizeof(T));
  }
}

template <class... Parameters>
const char* signature(void (*)(Parameters...)) {
  static const std::string codes = ((type_code<Parameters>() + " ") + ... + "");
  return codes.c_str();
}

template <class... Parameters, size_t... index>
int launch_with(void (*kernel)(Parameters...), std::index_sequence<index...>,
                void** arguments, const Request& request, Report& report) {
  auto call = [=] { kernel(*static_cast<Parameters*>(arguments[index])...); };
  auto entry = [](void* closure) { (*static_cast<decltype(call)*>(closure))(); };
  return launch(entry, &call, request, report);
}

template <class... Parameters>
int launch_kernel(void (*kernel)(Parameters...), void** arguments,
                  const Request& request, Report& report) {
  return launch_with(kernel, std::index_sequence_for<Parameters...>(), arguments,
                     request, report);
}

}  // namespace shim

#define SHIM_EXPORT(kernel)                                                        \
  extern "C" const char* shim_signature_##kernel() { return shim::signature(kernel); } \
  extern "C" int shim_launch_##kernel(void** arguments, const shim::Request* request,  \
                                      shim::Report* report) {                      \
    return shim::launch_kernel(kernel, arguments, *request, *report);              \
  }
