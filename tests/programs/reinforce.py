"""REINFORCE on a made-up balance: a stochastic policy, returns, one update a game."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Categorical

EPS = np.finfo(np.float32).eps.item()


class Balance:
    """A point that drifts away from 0 and is pushed left or right."""

    def reset(self):
        self.place, self.speed = 0.1, 0.0
        return np.array([self.place, self.speed], dtype=np.float32)

    def step(self, action):
        self.speed += (0.08 if action == 1 else -0.08) + 0.1 * self.place
        self.place += self.speed
        state = np.array([self.place, self.speed], dtype=np.float32)
        return state, 1.0 - abs(self.place), abs(self.place) > 1.0


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(2, 32)
        self.dropout = nn.Dropout(p=0.2)
        self.affine2 = nn.Linear(32, 2)
        self.saved_log_probs = []
        self.rewards = []

    def forward(self, x):
        x = F.relu(self.dropout(self.affine1(x)))
        return F.softmax(self.affine2(x), dim=1)


def select_action(policy, state):
    probs = policy(torch.from_numpy(state).float().unsqueeze(0))
    m = Categorical(probs)
    action = m.sample()
    policy.saved_log_probs.append(m.log_prob(action))
    return action.item()


def finish_episode(policy, optimizer):
    R, returns = 0, []
    for r in policy.rewards[::-1]:
        R = r + 0.9 * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + EPS)
    pairs = zip(policy.saved_log_probs, returns)
    policy_loss = [-log_prob * R for log_prob, R in pairs]
    optimizer.zero_grad()
    terms = torch.cat(policy_loss)
    terms.sum().backward()
    optimizer.step()
    del policy.rewards[:]
    del policy.saved_log_probs[:]
    # Their sum is near 0, a difference of large numbers: it says little.
    return terms.abs().sum().item()


def train(steps=50):
    torch.manual_seed(543)
    env, policy = Balance(), Policy()
    optimizer = optim.Adam(policy.parameters(), lr=1e-2)
    for _ in range(steps):
        state = env.reset()
        for _ in range(12):
            state, reward, done = env.step(select_action(policy, state))
            policy.rewards.append(reward)
            if done:
                break
        yield finish_episode(policy, optimizer)


if __name__ == "__main__":
    for value in train():
        print(f"{value:.6f}")
