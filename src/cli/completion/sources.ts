/**
 * Sources that complete an argument or the value of an option, by the word in its brackets. `<agent>` is completed
 * with agent names everywhere, so a new command declares its completion by its usage.
 */
import { capabilities } from '../../core/capability.ts'
import { roles } from '../../core/grant.ts'
import { approvers, derivedKinds, policyLocations } from '../../core/policy/policy.ts'
import { noticeEvent, noticeTargetType } from '../../features/notices/contract.ts'
import { outboundMethods } from '../../resolver/contract.ts'
import { toolNames } from '../agent_setup/tools.ts'
import { resultNames } from '../audit.ts'
import { dialectNames } from '../files/dialects/index.ts'
import { exportFormats } from '../files/formats.ts'
import { policyFields } from '../policies/fields.ts'
import { settingNames } from '../settings.ts'

export type NameKind = 'workspaces' | 'projects' | 'environments' | 'secrets' | 'agents' | 'members'

export type Source =
  | { names: NameKind; ending?: '=' | '/' }
  | { words: readonly string[] }
  /** Accounts of this machine: no server is asked. */
  | { accounts: true }
  /** Pages of the documentation. */
  | { topics: true }
  | { shell: 'files' | 'commands' }

export const shells = ['bash', 'zsh', 'fish'] as const

export const sources: Readonly<Record<string, Source>> = {
  account: { accounts: true },
  topic: { topics: true },
  workspace: { names: 'workspaces' },
  project: { names: 'projects' },
  environment: { names: 'environments' },
  /** `project/environment`. */
  place: { names: 'projects', ending: '/' },
  from: { names: 'environments' },
  to: { names: 'environments' },
  secret: { names: 'secrets' },
  key: { names: 'secrets' },
  keys: { names: 'secrets' },
  /** `NAME=value`. */
  pairs: { names: 'secrets', ending: '=' },
  agent: { names: 'agents' },
  member: { names: 'members' },
  /** Agents have an option to themselves. */
  actor: { names: 'members' },
  role: { words: roles },
  kind: { words: derivedKinds },
  approver: { words: [...approvers, 'none'] },
  type: { words: noticeTargetType.options },
  events: { words: noticeEvent.options },
  result: { words: resultNames },
  format: { words: exportFormats },
  dialect: { words: dialectNames },
  encoding: { words: ['form'] },
  method: { words: outboundMethods },
  capabilities: { words: [...capabilities, 'use,read'] },
  location: { words: policyLocations },
  fields: { words: policyFields },
  choice: { words: ['all', 'none'] },
  shell: { words: shells },
  tool: { words: toolNames },
  setting: { words: settingNames },
  path: { shell: 'files' },
  command: { shell: 'commands' },
}
