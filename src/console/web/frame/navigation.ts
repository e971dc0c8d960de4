/** The areas of a workspace, in the order in which they are shown: a new one is a line here and a route. */
import { texts } from '../texts/index.ts'

/** The token of somebody who is new. */
export const NEW = 'new'

export const areas = [
  { to: '/w/$workspaceId/secrets', label: texts.secrets.title },
  { to: '/w/$workspaceId/agents', label: texts.agents.title },
  { to: '/w/$workspaceId/live', label: texts.live.title },
  { to: '/w/$workspaceId/allowlist', label: texts.allowlist.title },
  { to: '/w/$workspaceId/members', label: texts.members.title },
  { to: '/w/$workspaceId/audit', label: texts.audit.title },
  { to: '/w/$workspaceId/history', label: texts.history.title },
] as const

/** What is begun from anywhere in a workspace. */
export const begun = [
  {
    id: 'new token',
    to: '/w/$workspaceId/agents',
    label: texts.agents.make,
    search: { make: NEW },
  },
  { id: 'revoke', to: '/w/$workspaceId/agents', label: texts.agents.revokeSome, search: {} },
] as const

export const everywhere = [
  { to: '/', label: texts.workspaces.title },
  { to: '/account', label: texts.account.title },
] as const
