"""Deep Q-learning on a walk of nine places: replay, target network, Huber loss."""

import random
from collections import deque, namedtuple

import torch
import torch.nn as nn
import torch.optim as optim

PLACES, BATCH, GAMMA, TAU = 9, 16, 0.95, 0.05
Transition = namedtuple("Transition", ("state", "action", "next_state", "reward"))


class Walk:
    """Two steps: left and right; the right end pays, the left end costs."""

    def reset(self):
        self.place = PLACES // 2
        return self.observe()

    def observe(self):
        return [self.place / PLACES, (self.place % 3) - 1.0, 1.0]

    def step(self, action):
        self.place += 1 if action == 1 else -1
        if self.place >= PLACES - 1:
            return self.observe(), 1.0, True
        if self.place <= 0:
            return self.observe(), -1.0, True
        return self.observe(), -0.01, False


class DQN(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = nn.Linear(3, 32)
        self.layer2 = nn.Linear(32, 32)
        self.layer3 = nn.Linear(32, 2)

    def forward(self, x):
        x = torch.relu(self.layer1(x))
        return self.layer3(torch.relu(self.layer2(x)))


def optimise(memory, policy_net, target_net, optimizer):
    batch = Transition(*zip(*random.sample(memory, BATCH)))
    alive = torch.tensor([s is not None for s in batch.next_state], dtype=torch.bool)
    next_states = torch.cat([s for s in batch.next_state if s is not None])
    values = policy_net(torch.cat(batch.state)).gather(1, torch.cat(batch.action))
    next_values = torch.zeros(BATCH)
    with torch.no_grad():
        next_values[alive] = target_net(next_states).max(1).values
    expected = next_values * GAMMA + torch.cat(batch.reward)
    loss = nn.SmoothL1Loss()(values, expected.unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(policy_net.parameters(), 100)
    optimizer.step()
    return loss.item()


def train(steps=50):
    random.seed(5)
    torch.manual_seed(5)
    policy_net, target_net = DQN(), DQN()
    target_net.load_state_dict(policy_net.state_dict())
    optimizer = optim.AdamW(policy_net.parameters(), lr=1e-3, amsgrad=True)
    memory, env, done, taken = deque(maxlen=200), Walk(), True, 0
    while taken < steps:
        if done:
            state = torch.tensor(env.reset(), dtype=torch.float32).unsqueeze(0)
        if random.random() > 0.5:
            with torch.no_grad():
                action = policy_net(state).max(1).indices.view(1, 1)
        else:
            action = torch.tensor([[random.randrange(2)]], dtype=torch.long)
        observation, reward, done = env.step(action.item())
        after = None if done else torch.tensor([observation])
        memory.append(Transition(state, action, after, torch.tensor([reward])))
        state = after
        if len(memory) < BATCH:
            continue
        taken += 1
        yield optimise(memory, policy_net, target_net, optimizer)
        kept = target_net.state_dict()
        for key, value in policy_net.state_dict().items():
            kept[key] = value * TAU + kept[key] * (1 - TAU)
        target_net.load_state_dict(kept)


if __name__ == "__main__":
    for value in train():
        print(f"{value:.6f}")
