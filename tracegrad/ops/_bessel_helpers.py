"""Bessel functions, written with NumPy's ufuncs: for kernels and sources.

Each takes the namespace as its first argument, as in `tracegrad.ops._numpy_helpers`.
The tables are Chebyshev coefficients, the highest first, computed with 40 digits from
the integrals of NIST DLMF 10.9 and 10.32: ``NEAR`` of the function without its
logarithm or power on the interval at 0, ``FAR`` of what is left of its asymptotic
form beyond; ``P`` and ``Q`` are the modulus' two parts of DLMF 10.17.3.
"""

from __future__ import annotations

from typing import Any

from tracegrad.ops._numpy_helpers import helper

TG_I0_NEAR = (
    5.669178006921496e-19,
    -4.4153416464793395e-18,
    3.3307945188222384e-17,
    -2.431279846547955e-16,
    1.715391285555133e-15,
    -1.1685332877993451e-14,
    7.676185498604936e-14,
    -4.856446783111929e-13,
    2.95505266312964e-12,
    -1.726826291441556e-11,
    9.675809035373237e-11,
    -5.189795601635263e-10,
    2.6598237246823866e-09,
    -1.300025009986248e-08,
    6.046995022541919e-08,
    -2.670793853940612e-07,
    1.1173875391201037e-06,
    -4.4167383584587505e-06,
    1.6448448070728896e-05,
    -5.754195010082104e-05,
    0.00018850288509584165,
    -0.0005763755745385824,
    0.0016394756169413357,
    -0.004324309995050576,
    0.010546460394594998,
    -0.02373741480589947,
    0.04930528423967071,
    -0.09490109704804764,
    0.17162090152220877,
    -0.3046826723431984,
    0.33839763720473803,
)
TG_I0_FAR = (
    1.1936508908460063e-18,
    9.921475412173676e-19,
    -7.23318048787476e-18,
    -4.830504485944178e-18,
    4.46562142029676e-17,
    3.461222867697461e-17,
    -2.8276239805165836e-16,
    -3.425485619677219e-16,
    1.7725601330565263e-15,
    3.8116806693526224e-15,
    -9.554846698828307e-15,
    -4.150569347287222e-14,
    1.54008621752141e-14,
    3.8527783827421426e-13,
    7.180124451383666e-13,
    -1.7941785315068062e-12,
    -1.3215811840447713e-11,
    -3.1499165279632416e-11,
    1.1889147107846439e-11,
    4.94060238822497e-10,
    3.3962320257083865e-09,
    2.266668990498178e-08,
    2.0489185894690638e-07,
    2.8913705208347567e-06,
    6.889758346916825e-05,
    0.0033691164782556943,
    0.4022452055070544,
)
TG_I1_NEAR = (
    -3.541581772542136e-19,
    2.7779141127610464e-18,
    -2.111421214358166e-17,
    1.5536319577362005e-16,
    -1.1055969477353862e-15,
    7.600684294735408e-15,
    -5.042185504727912e-14,
    3.223793365945575e-13,
    -1.9839743977649436e-12,
    1.1736186298890901e-11,
    -6.663489723502027e-11,
    3.625590281552117e-10,
    -1.8872497517228294e-09,
    9.381537386495773e-09,
    -4.445059128796328e-08,
    2.0032947535521353e-07,
    -8.568720264695455e-07,
    3.4702513081376785e-06,
    -1.3273163656039436e-05,
    4.781565107550054e-05,
    -0.00016176081582589674,
    0.0005122859561685758,
    -0.0015135724506312532,
    0.004156422944312888,
    -0.010564084894626197,
    0.024726449030626516,
    -0.05294598120809499,
    0.1026436586898471,
    -0.17641651835783406,
    0.12629359322181682,
)
TG_I1_FAR = (
    -1.2421932751949152e-18,
    -9.314178867326863e-19,
    7.517296310842111e-18,
    4.414348323071704e-18,
    -4.650305368489358e-17,
    -3.209525921993424e-17,
    2.96262899764595e-16,
    3.3082023109209285e-16,
    -1.8803547755107825e-15,
    -3.8144030724370075e-15,
    1.0420276984128802e-14,
    4.272440016711951e-14,
    -2.1015418427726643e-14,
    -4.0835511110921974e-13,
    -7.198551776245908e-13,
    2.0356285441470896e-12,
    1.4125807436613782e-11,
    3.2526035830154884e-11,
    -1.8974958123505413e-11,
    -5.589743462196584e-10,
    -3.835380385964237e-09,
    -2.6314688468895196e-08,
    -2.512236237870209e-07,
    -3.882564808877691e-06,
    -0.00011058893876262371,
    -0.009761097491361469,
    0.38928811750914005,
)
TG_K0_NEAR = (
    3.5708965285083736e-19,
    1.3744654358807508e-16,
    4.2598161427910826e-14,
    1.0349695257633625e-11,
    1.904516377220209e-09,
    2.5347910790261494e-07,
    2.286212103119452e-05,
    0.001264615411446926,
    0.0359799365153615,
    0.3442898999246285,
    -0.2676636966169514,
)
TG_K0_FAR = (
    -1.7331712005821001e-18,
    5.3004337711773354e-18,
    -1.6475805939842632e-17,
    5.2103917776435543e-17,
    -1.6782311257549006e-16,
    5.5120559994043335e-16,
    -1.848593377920907e-15,
    6.340076476276646e-15,
    -2.2275133267462965e-14,
    8.032890775068375e-14,
    -2.9800969231481784e-13,
    1.1403405882073441e-12,
    -4.514597883374519e-12,
    1.8559491149549264e-11,
    -7.957489244477396e-11,
    3.5773972814003283e-10,
    -1.6975345093890614e-09,
    8.574034017414225e-09,
    -4.660489897687948e-08,
    2.766813639445015e-07,
    -1.8317555227191195e-06,
    1.39498137188765e-05,
    -0.00012849549581627802,
    0.0015698838857300533,
    -0.0314481013119645,
    1.2201515410329777,
)
TG_K1_NEAR = (
    -7.023863479386288e-18,
    -2.427449850519366e-15,
    -6.666901694199329e-13,
    -1.4114883926335278e-10,
    -2.213387630734726e-08,
    -2.4334061415659684e-06,
    -0.0001730288957513052,
    -0.006975723859639864,
    -0.12261118082265715,
    -0.3531559607765449,
    0.7626501136694739,
)
TG_K1_FAR = (
    1.8778651901623268e-18,
    -5.7567444820733025e-18,
    1.7940510478863572e-17,
    -5.689462849193648e-17,
    1.8380935752430455e-16,
    -6.057047270643018e-16,
    2.038703166239861e-15,
    -7.0198370892147685e-15,
    2.4771544242195988e-14,
    -8.976705182010146e-14,
    3.348419666052243e-13,
    -1.2891739609498229e-12,
    5.139639673482343e-12,
    -2.129967838427791e-11,
    9.218315187605315e-11,
    -4.1903547593419254e-10,
    2.0150497551970347e-09,
    -1.0345762465678097e-08,
    5.7410841254500495e-08,
    -3.5019606030878126e-07,
    2.406484947837217e-06,
    -1.936197974166083e-05,
    0.00019521551847135162,
    -0.002857816859622779,
    0.10392373657681724,
    1.3603130952422213,
)
TG_J0_NEAR = (
    1.2218515873961411e-17,
    -7.588508125447546e-16,
    4.125320595634374e-14,
    -1.9438346867370164e-12,
    7.848696314479465e-11,
    -2.679253530557673e-09,
    7.608163592418782e-08,
    -1.7619469077621507e-06,
    3.246032882100508e-05,
    -0.00046062616620627504,
    0.004819180069467605,
    -0.034893769411408884,
    0.15806710233209725,
    -0.37009499387264977,
    0.2651786132033368,
    -0.008723442352852221,
    0.15772797147489012,
)
TG_J1_NEAR = (
    3.6912682997929334e-19,
    -2.4441972916190464e-17,
    1.4232144003513942e-15,
    -7.221755239651773e-14,
    3.160154580348003e-12,
    -1.178026622695885e-10,
    3.687133759097148e-09,
    -9.521984756750436e-08,
    1.9858774049915165e-06,
    -3.255554866857259e-05,
    0.0004050337728354822,
    -0.003646940600769276,
    0.022213639654966037,
    -0.08268049176681791,
    0.1609992623572097,
    -0.1489751450676521,
    0.08104484632565812,
)
TG_Y0_NEAR = (
    3.9032584173475982e-19,
    -2.6977881152566837e-17,
    1.6434898714919468e-15,
    -8.747341203310769e-14,
    4.02633081830612e-12,
    -1.5837552541812015e-10,
    5.248794787330516e-09,
    -1.44072332740187e-07,
    3.206532537654801e-06,
    -5.632079141056987e-05,
    0.0007531135932577742,
    -0.007287962479552079,
    0.04719668959576339,
    -0.17730201278114358,
    0.26156734625504663,
    0.17903431407718265,
    -0.2744743055297453,
    -0.03314611320328494,
)
TG_Y1_NEAR = (
    -8.224911372021585e-19,
    5.34668038572867e-17,
    -3.0511859694473254e-15,
    1.51429151205002e-13,
    -6.4651518414115946e-12,
    2.344337905911516e-10,
    -7.11055004989928e-09,
    1.7707804556154404e-07,
    -3.53808001868935e-06,
    5.505982873338744e-05,
    -0.0006414551451326356,
    0.005289897544167113,
    -0.028328123944594365,
    0.08445197259652346,
    -0.09591204536083074,
    -0.01608717304766875,
    0.0025380132357417816,
)
TG_J0_P = (
    -2.880866169482871e-18,
    1.6305919233744186e-17,
    -1.0011513723467786e-16,
    6.748072215733873e-16,
    -5.069034095935236e-15,
    4.3265957431549404e-14,
    -4.3045788699253914e-13,
    5.168262387349193e-12,
    -7.86409137723707e-11,
    1.6306464635151382e-09,
    -5.1705945376060975e-08,
    3.0751847875194745e-06,
    -0.0005365220468132117,
    0.9994603493475187,
)
TG_J0_Q = (
    -2.336930172211422e-19,
    1.0473158973776097e-18,
    -4.952892629886516e-18,
    2.4865952389390515e-17,
    -1.3348852171502517e-16,
    7.729703176242605e-16,
    -4.87994410531204e-15,
    3.4041800321963686e-14,
    -2.6690625482579414e-13,
    2.404916100281365e-12,
    -2.565397936797308e-11,
    3.376097523734991e-10,
    -5.817532749493056e-09,
    1.4377965798375193e-07,
    -5.9315987288485175e-06,
    0.0005470815954089319,
    -0.12444683684269607,
)
TG_J1_P = (
    3.0492991197665872e-18,
    -1.7312313216116335e-17,
    1.0667689114335412e-16,
    -7.221180842274018e-16,
    5.452674896044717e-15,
    -4.6842237839904895e-14,
    4.699195515230542e-13,
    -5.704863640395645e-12,
    8.816898659582339e-11,
    -1.8718907491063067e-09,
    6.177633960644299e-08,
    -3.987284300488908e-06,
    0.0008989898330859408,
    1.0009030408600137,
)
TG_J1_Q = (
    -1.101261718787959e-18,
    5.2192649196714085e-18,
    -2.626761589838529e-17,
    1.4141084390211833e-16,
    -8.215318025458595e-16,
    5.206626366226707e-15,
    -3.649001916061838e-14,
    2.8774212663332235e-13,
    -2.61145253946232e-12,
    2.8121750359748866e-11,
    -3.749090950541556e-10,
    6.583354662120443e-09,
    -1.676782510726674e-07,
    7.3108922063643636e-06,
    -0.0007702178839325664,
    0.3742222965562826,
)


@helper()
def tg_chebyshev(np: Any, table: Any, u: Any) -> Any:
    """Sum a Chebyshev series at u in [-1, 1] by Clenshaw's recurrence."""
    last, before = table[0] + 0.0 * u, 0.0 * u
    for coefficient in table[1:-1]:
        last, before = 2.0 * u * last - before + coefficient, last
    return u * last - before + table[-1]


@helper("tg_chebyshev", "TG_I0_NEAR", "TG_I0_FAR")
def tg_i0e(np: Any, x: Any) -> Any:
    """Modified Bessel function of order 0, times exp(-abs(x))."""
    a = np.abs(np.positive(x, dtype="float64"))
    near = tg_chebyshev(np, TG_I0_NEAR, np.minimum(a, 8.0) / 4.0 - 1.0)
    far = np.maximum(a, 8.0)
    value = tg_chebyshev(np, TG_I0_FAR, 16.0 / far - 1.0) / np.sqrt(far)
    return np.where(np.isnan(x), x, np.where(a <= 8.0, near, value)).astype(x.dtype)


@helper("tg_chebyshev", "TG_I1_NEAR", "TG_I1_FAR")
def tg_i1e(np: Any, x: Any) -> Any:
    """Modified Bessel function of order 1, times exp(-abs(x))."""
    wide = np.positive(x, dtype="float64")
    a = np.abs(wide)
    near = wide * tg_chebyshev(np, TG_I1_NEAR, np.minimum(a, 8.0) / 4.0 - 1.0)
    far = np.maximum(a, 8.0)
    value = tg_chebyshev(np, TG_I1_FAR, 16.0 / far - 1.0) / np.sqrt(far)
    value = np.where(a <= 8.0, near, np.copysign(value, wide))
    return np.where(np.isnan(x), x, value).astype(x.dtype)


@helper("tg_i0e")
def tg_i0(np: Any, x: Any) -> Any:
    """Modified Bessel function of order 0."""
    wide = np.positive(x, dtype="float64")
    # In two factors: exp() alone overflows before the function does.
    half = np.exp(np.abs(wide) / 2.0)
    return (tg_i0e(np, wide) * half * half).astype(x.dtype)


@helper("tg_i1e")
def tg_i1(np: Any, x: Any) -> Any:
    """Modified Bessel function of order 1."""
    wide = np.positive(x, dtype="float64")
    half = np.exp(np.abs(wide) / 2.0)
    return (tg_i1e(np, wide) * half * half).astype(x.dtype)


@helper("tg_chebyshev", "tg_i0", "TG_K0_NEAR", "TG_K0_FAR")
def tg_k0e(np: Any, x: Any) -> Any:
    """Modified Bessel function of the second kind of order 0, times exp(x)."""
    wide = np.positive(x, dtype="float64")
    a = np.where(wide > 0, np.minimum(wide, 2.0), 1.0)
    near = tg_chebyshev(np, TG_K0_NEAR, a * a / 2.0 - 1.0)
    near = (near - np.log(a / 2.0) * tg_i0(np, a)) * np.exp(a)
    far = np.maximum(wide, 2.0)
    value = tg_chebyshev(np, TG_K0_FAR, 4.0 / far - 1.0) / np.sqrt(far)
    value = np.where(wide <= 2.0, near, value)
    value = np.where(wide == 0, np.inf, np.where(wide < 0, np.nan, value))
    return np.where(np.isnan(x), x, value).astype(x.dtype)


@helper("tg_chebyshev", "tg_i1", "TG_K1_NEAR", "TG_K1_FAR")
def tg_k1e(np: Any, x: Any) -> Any:
    """Modified Bessel function of the second kind of order 1, times exp(x)."""
    wide = np.positive(x, dtype="float64")
    a = np.where(wide > 0, np.minimum(wide, 2.0), 1.0)
    near = tg_chebyshev(np, TG_K1_NEAR, a * a / 2.0 - 1.0) / a
    near = (near + np.log(a / 2.0) * tg_i1(np, a)) * np.exp(a)
    far = np.maximum(wide, 2.0)
    value = tg_chebyshev(np, TG_K1_FAR, 4.0 / far - 1.0) / np.sqrt(far)
    value = np.where(wide <= 2.0, near, value)
    value = np.where(wide == 0, np.inf, np.where(wide < 0, np.nan, value))
    return np.where(np.isnan(x), x, value).astype(x.dtype)


@helper("tg_k0e")
def tg_k0(np: Any, x: Any) -> Any:
    """Modified Bessel function of the second kind of order 0."""
    wide = np.positive(x, dtype="float64")
    value = tg_k0e(np, wide) * np.exp(-np.where(wide > 0, wide, 0.0))
    return value.astype(x.dtype)


@helper("tg_k1e")
def tg_k1(np: Any, x: Any) -> Any:
    """Modified Bessel function of the second kind of order 1."""
    wide = np.positive(x, dtype="float64")
    value = tg_k1e(np, wide) * np.exp(-np.where(wide > 0, wide, 0.0))
    return value.astype(x.dtype)


@helper("tg_chebyshev", "TG_J0_P", "TG_J0_Q")
def tg_bessel_wave0(np: Any, a: Any) -> Any:
    """J0 and Y0 from 8 on, by modulus and phase."""
    far = np.minimum(np.maximum(a, 8.0), 1e300)
    u = 2.0 * (8.0 / far) ** 2 - 1.0
    p = tg_chebyshev(np, TG_J0_P, u)
    q = tg_chebyshev(np, TG_J0_Q, u) / far
    cos, sin, root = np.cos(far), np.sin(far), np.sqrt(np.pi * far)
    return (p * (cos + sin) - q * (sin - cos)) / root, (
        p * (sin - cos) + q * (cos + sin)
    ) / root


@helper("tg_chebyshev", "TG_J1_P", "TG_J1_Q")
def tg_bessel_wave1(np: Any, a: Any) -> Any:
    """J1 and Y1 from 8 on, by modulus and phase."""
    far = np.minimum(np.maximum(a, 8.0), 1e300)
    u = 2.0 * (8.0 / far) ** 2 - 1.0
    p = tg_chebyshev(np, TG_J1_P, u)
    q = tg_chebyshev(np, TG_J1_Q, u) / far
    cos, sin, root = np.cos(far), np.sin(far), np.sqrt(np.pi * far)
    return (p * (sin - cos) + q * (sin + cos)) / root, (
        q * (sin - cos) - p * (sin + cos)
    ) / root


@helper("tg_chebyshev", "tg_bessel_wave0", "TG_J0_NEAR")
def tg_j0(np: Any, x: Any) -> Any:
    """Bessel function of order 0."""
    a = np.abs(np.positive(x, dtype="float64"))
    near = np.minimum(a, 8.0)
    value = tg_chebyshev(np, TG_J0_NEAR, near * near / 32.0 - 1.0)
    value = np.where(a <= 8.0, value, tg_bessel_wave0(np, a)[0])
    return np.where(np.isnan(x), x, np.where(a == np.inf, 0.0, value)).astype(x.dtype)


@helper("tg_chebyshev", "tg_bessel_wave1", "TG_J1_NEAR")
def tg_j1(np: Any, x: Any) -> Any:
    """Bessel function of order 1."""
    wide = np.positive(x, dtype="float64")
    a = np.abs(wide)
    near = np.minimum(a, 8.0)
    value = near * tg_chebyshev(np, TG_J1_NEAR, near * near / 32.0 - 1.0)
    value = np.where(a <= 8.0, value, tg_bessel_wave1(np, a)[0])
    value = np.where(wide < 0, -value, value)
    return np.where(np.isnan(x), x, np.where(a == np.inf, 0.0, value)).astype(x.dtype)


@helper("tg_chebyshev", "tg_bessel_wave0", "tg_j0", "TG_Y0_NEAR")
def tg_y0(np: Any, x: Any) -> Any:
    """Bessel function of the second kind of order 0."""
    wide = np.positive(x, dtype="float64")
    a = np.where(wide > 0, np.minimum(wide, 8.0), 1.0)
    near = tg_chebyshev(np, TG_Y0_NEAR, a * a / 32.0 - 1.0)
    near = near + 2.0 / np.pi * np.log(a) * tg_j0(np, a)
    value = np.where(wide <= 8.0, near, tg_bessel_wave0(np, wide)[1])
    value = np.where(wide == 0, -np.inf, np.where(wide < 0, np.nan, value))
    value = np.where(wide == np.inf, 0.0, value)
    return np.where(np.isnan(x), x, value).astype(x.dtype)


@helper("tg_chebyshev", "tg_bessel_wave1", "tg_j1", "TG_Y1_NEAR")
def tg_y1(np: Any, x: Any) -> Any:
    """Bessel function of the second kind of order 1."""
    wide = np.positive(x, dtype="float64")
    a = np.where(wide > 0, np.minimum(wide, 8.0), 1.0)
    near = a * tg_chebyshev(np, TG_Y1_NEAR, a * a / 32.0 - 1.0)
    near = near + 2.0 / np.pi * (np.log(a) * tg_j1(np, a) - 1.0 / a)
    value = np.where(wide <= 8.0, near, tg_bessel_wave1(np, wide)[1])
    value = np.where(wide == 0, -np.inf, np.where(wide < 0, np.nan, value))
    value = np.where(wide == np.inf, 0.0, value)
    return np.where(np.isnan(x), x, value).astype(x.dtype)
