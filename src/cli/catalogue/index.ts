/** Every command, with its examples. What a command does is loaded when it runs. */
import { command, type Group, type Spec } from '../command.ts'
import { agentGroups } from './agents.ts'
import { configOptions, passwordOptions, trustOptions } from './options.ts'
import { proxySpecs } from './proxy.ts'
import { runningSpecs } from './running.ts'
import { secretGroups } from './secrets.ts'
import { teamGroups } from './teams.ts'

export const topLevel: readonly Spec[] = [
  command({
    usage: 'register <email>',
    about: 'create an account; its keys are made on this machine',
    examples: [
      'register ada@example.com --server https://vault.example.com',
      'register ada@example.com --password-stdin < password.txt',
    ],
    options: passwordOptions,
    action: async () => (await import('../commands/account.ts')).register,
  }),
  command({
    usage: 'login <email>',
    about: 'log in and keep the session on this machine',
    examples: ['login ada@example.com', 'login ada@example.com --server https://vault.example.com'],
    options: passwordOptions,
    action: async () => (await import('../commands/account.ts')).login,
  }),
  command({
    usage: 'recover <email>',
    about: 'set a new password with the recovery key',
    examples: ['recover ada@example.com'],
    options: passwordOptions,
    action: async () => (await import('../commands/account.ts')).recover,
  }),
  command({
    usage: 'logout',
    about: 'end the session here and on the server',
    examples: ['logout'],
    action: async () => (await import('../commands/account.ts')).logOut,
  }),
  command({
    usage: 'whoami',
    about: 'show who is logged in, with the fingerprint of the public key',
    examples: ['whoami', 'whoami --json'],
    action: async () => (await import('../commands/account.ts')).whoAmI,
  }),
  command({
    usage: 'status',
    about: 'show server, session and what the commands would use',
    examples: ['status', 'status --json'],
    action: async () => (await import('../commands/account.ts')).status,
  }),
  command({
    usage: 'init <project>',
    about: 'make or choose a project for this directory',
    examples: ['init payments', 'init payments -w acme -e staging'],
    action: async () => (await import('../commands/projects.ts')).init,
  }),
  command({
    usage: 'link <project>',
    about: 'choose a project that exists for this directory',
    examples: ['link payments', 'link payments -w acme --server https://vault.example.com'],
    action: async () => (await import('../commands/projects.ts')).link,
  }),
  command({
    usage: 'trust',
    about: 'let the project file of this folder say which server and resolver to use',
    examples: ['trust', 'trust --remove'],
    options: trustOptions,
    action: async () => (await import('../commands/trust.ts')).trust,
  }),
  command({
    usage: 'config [setting] [value]',
    about: 'show settings and where they come from, set one, or take it away',
    examples: [
      'config',
      'config server https://vault.example.com',
      'config environment staging --local',
      'config environment --unset',
    ],
    options: configOptions,
    action: async () => (await import('../commands/config.ts')).config,
  }),
  command({
    usage: 'completion <shell>',
    about: 'print a completion script for bash, zsh or fish',
    examples: [
      'completion bash > ~/.local/share/bash-completion/completions/cloakroom',
      'completion zsh > "${fpath[1]}/_cloakroom"',
      'completion fish > ~/.config/fish/completions/cloakroom.fish',
    ],
    action: async () => (await import('../commands/completion.ts')).completion,
  }),
  ...runningSpecs,
  ...proxySpecs,
]

export const groups: readonly Group[] = [...teamGroups, ...secretGroups, ...agentGroups]
