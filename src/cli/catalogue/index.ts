/** Every command, with its examples. What a command does is loaded when it runs. */
import type { Group, Spec } from '../program.ts'
import { agentGroups } from './agents.ts'
import { proxySpecs } from './proxy.ts'
import { runningSpecs } from './running.ts'
import { secretGroups } from './secrets.ts'
import { teamGroups } from './teams.ts'

const stdinOption = ['--password-stdin', 'read the password from standard input'] as const

export const topLevel: readonly Spec[] = [
  {
    usage: 'register <email>',
    about: 'create an account; its keys are made on this machine',
    examples: [
      'register ada@example.com --server https://vault.example.com',
      'register ada@example.com --password-stdin < password.txt',
    ],
    options: [stdinOption],
    action: async () => (await import('../commands/account.ts')).register,
  },
  {
    usage: 'login <email>',
    about: 'log in and keep the session on this machine',
    examples: ['login ada@example.com', 'login ada@example.com --server https://vault.example.com'],
    options: [stdinOption],
    action: async () => (await import('../commands/account.ts')).login,
  },
  {
    usage: 'recover <email>',
    about: 'set a new password with the recovery key',
    examples: ['recover ada@example.com'],
    options: [stdinOption],
    action: async () => (await import('../commands/account.ts')).recover,
  },
  {
    usage: 'logout',
    about: 'end the session here and on the server',
    examples: ['logout'],
    action: async () => (await import('../commands/account.ts')).logOut,
  },
  {
    usage: 'whoami',
    about: 'show who is logged in, with the fingerprint of the public key',
    examples: ['whoami', 'whoami --json'],
    action: async () => (await import('../commands/account.ts')).whoAmI,
  },
  {
    usage: 'status',
    about: 'show server, session and what the commands would use',
    examples: ['status', 'status --json'],
    action: async () => (await import('../commands/account.ts')).status,
  },
  {
    usage: 'init <project>',
    about: 'make or choose a project for this directory',
    examples: ['init payments', 'init payments -w acme -e staging'],
    action: async () => (await import('../commands/projects.ts')).init,
  },
  {
    usage: 'config [setting] [value]',
    about: 'show settings and where they come from, or set one',
    examples: [
      'config',
      'config server https://vault.example.com',
      'config environment staging --local',
    ],
    options: [['--local', 'in the project file instead of the global one']],
    action: async () => (await import('../commands/account.ts')).config,
  },
  ...runningSpecs,
  ...proxySpecs,
]

export const groups: readonly Group[] = [...teamGroups, ...secretGroups, ...agentGroups]
