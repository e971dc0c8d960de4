/** Agents, tokens and the audit. */
import { command, type Group } from '../command.ts'
import {
  agentOptions,
  agentTokenOptions,
  auditListOptions,
  confirmOptions,
  filterOptions,
  rangeOptions,
  setupOptions,
  workloadTokenOptions,
} from './options.ts'

const agents = () => import('../commands/agents.ts')
const workloadTokens = () => import('../commands/workload_tokens.ts')
const audit = () => import('../commands/audit.ts')

export const agentGroups: readonly Group[] = [
  {
    name: 'agent',
    about: 'agents: programs that use credentials without seeing them',
    commands: [
      command({
        usage: 'create <name>',
        names: 'agent',
        about: 'register an agent with a token for the chosen project and environment',
        examples: [
          'agent create deploy-bot --save',
          'agent create deploy-bot',
          'agent create ops-bot --all-projects --expires-in-days 30',
        ],
        options: agentOptions,
        action: async () => (await agents()).create,
      }),
      command({
        usage: 'list',
        about: 'list the agents',
        examples: ['agent list'],
        action: async () => (await agents()).list,
      }),
      command({
        usage: 'delete <agent>',
        about: 'delete an agent and revoke its tokens',
        examples: ['agent delete deploy-bot --yes'],
        options: confirmOptions,
        action: async () => (await agents()).remove,
      }),
      command({
        usage: 'accept-name <agent>',
        about: 'have a name stand for another agent than when it was seen before',
        examples: ['agent accept-name deploy-bot'],
        options: confirmOptions,
        action: async () => (await import('../commands/teams/accept_name.ts')).ofAgent,
      }),
      command({
        usage: 'setup <tool>',
        about:
          'have claude-code, cursor, vscode, codex, gemini or opencode start cloakroom mcp; no token is written',
        examples: [
          'agent setup claude-code --agent deploy-bot',
          'agent setup codex --agent deploy-bot --user',
          'agent setup vscode --agent deploy-bot --print',
          'agent setup cursor --remove',
        ],
        options: setupOptions,
        action: async () => (await import('../commands/agent_setup.ts')).setUp,
      }),
    ],
  },
  {
    name: 'token',
    about: 'tokens of an agent',
    commands: [
      command({
        usage: 'issue <agent>',
        about: 'issue one more token for the chosen project and environment',
        examples: ['token issue deploy-bot -e staging', 'token issue build-bot --may use,read'],
        options: agentTokenOptions,
        action: async () => (await agents()).issue,
      }),
      command({
        usage: 'list <agent>',
        about: 'list the tokens',
        examples: ['token list deploy-bot'],
        action: async () => (await agents()).listTokens,
      }),
      command({
        usage: 'revoke <agent> <token>',
        about: 'revoke a token, by its label or id',
        examples: ['token revoke deploy-bot laptop', 'token revoke deploy-bot 0190…'],
        options: confirmOptions,
        action: async () => (await agents()).revoke,
      }),
      command({
        usage: 'grant <agent> <token>',
        about: 'give a token the key of the chosen project and environment',
        examples: ['token grant ops-bot 0190… -p payments -e production'],
        action: async () => (await agents()).grant,
      }),
      command({
        usage: 'ungrant <agent> <token>',
        about: 'take the key of the chosen project and environment away from a token',
        examples: ['token ungrant ops-bot laptop -p payments -e production'],
        action: async () => (await agents()).ungrant,
      }),
    ],
  },
  {
    name: 'workload-token',
    about: 'tokens of containers and CI jobs',
    commands: [
      command({
        usage: 'issue <label>',
        about: 'issue a token for the chosen project and environment',
        examples: [
          'workload-token issue ci -e staging',
          'workload-token issue backup --sealed --expires-in-days never',
        ],
        options: workloadTokenOptions,
        action: async () => (await workloadTokens()).issue,
      }),
      command({
        usage: 'list',
        about: 'list the tokens',
        examples: ['workload-token list'],
        action: async () => (await workloadTokens()).list,
      }),
      command({
        usage: 'revoke <token>',
        about: 'revoke a token, by its label or id',
        examples: ['workload-token revoke ci', 'workload-token revoke 0190…'],
        options: confirmOptions,
        action: async () => (await workloadTokens()).revoke,
      }),
      command({
        usage: 'grant <token>',
        about: 'give a token its key anew, after a rekey',
        examples: ['workload-token grant 0190…'],
        action: async () => (await workloadTokens()).grant,
      }),
    ],
  },
  {
    name: 'audit',
    about: 'what agents and people did',
    commands: [
      command({
        usage: 'list',
        about: 'list records, newest first',
        examples: ['audit list --agent deploy-bot', 'audit list --status 403 --json'],
        options: auditListOptions,
        action: async () => (await audit()).list,
      }),
      command({
        usage: 'show <record>',
        about: 'show all of one record, by the id that list --json and --quiet print',
        examples: ['audit show 01a1f3c8-3a6e-7a54-bd5c-0e2f9c6b7d10'],
        action: async () => (await audit()).show,
      }),
      command({
        usage: 'summary',
        about: 'count requests by agent, domain and credential',
        examples: ['audit summary --since 2026-01-01'],
        options: rangeOptions,
        action: async () => (await audit()).summary,
      }),
      command({
        usage: 'export',
        about: 'print all records as JSON lines',
        examples: ['audit export > audit.jsonl'],
        options: filterOptions,
        action: async () => (await audit()).exportAll,
      }),
      command({
        usage: 'tail',
        about: 'print new records as they come',
        examples: ['audit tail'],
        options: filterOptions,
        action: async () => (await audit()).tail,
      }),
    ],
  },
]
