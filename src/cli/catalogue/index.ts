/** Every command, with its examples. What a command does is loaded when it runs. */
import { command, type Group, type Spec } from '../command.ts'
import { accountGroups, accountSpecs } from './accounts.ts'
import { agentGroups } from './agents.ts'
import { consoleSpecs } from './console.ts'
import { configOptions, confirmOptions, trustOptions } from './options.ts'
import { proxySpecs } from './proxy.ts'
import { runningSpecs } from './running.ts'
import { secretGroups } from './secrets.ts'
import { serverSpecs } from './server.ts'
import { teamGroups } from './teams.ts'

export const topLevel: readonly Spec[] = [
  ...accountSpecs,
  command({
    usage: 'init <project>',
    about: 'create or choose the project of this folder',
    examples: ['init payments', 'init payments -w acme -e staging'],
    options: confirmOptions,
    action: async () => (await import('../commands/teams/projects.ts')).init,
  }),
  command({
    usage: 'link <project>',
    about: 'choose an existing project for this folder',
    examples: ['link payments', 'link payments -w acme --server https://vault.example.com'],
    action: async () => (await import('../commands/teams/projects.ts')).link,
  }),
  command({
    usage: 'trust',
    about: "use the server and resolver in this folder's project file",
    examples: ['trust', 'trust --remove'],
    options: trustOptions,
    action: async () => (await import('../commands/trust.ts')).trust,
  }),
  command({
    usage: 'config [setting] [value]',
    about: 'show settings and their sources, set one, or remove one',
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
  ...consoleSpecs,
  ...serverSpecs,
]

export const groups: readonly Group[] = [
  ...accountGroups,
  ...teamGroups,
  ...secretGroups,
  ...agentGroups,
]
