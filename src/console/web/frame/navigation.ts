/** The areas of a workspace, in the order in which they are shown: a new one is a line here and a route. */
import { texts } from '../texts/index.ts'

export const areas = [
  { to: '/w/$workspaceId/secrets', label: texts.secrets.title },
  { to: '/w/$workspaceId/agents', label: texts.agents.title },
  { to: '/w/$workspaceId/live', label: texts.live.title },
  { to: '/w/$workspaceId/allowlist', label: texts.allowlist.title },
  { to: '/w/$workspaceId/members', label: texts.members.title },
  { to: '/w/$workspaceId/audit', label: texts.audit.title },
  { to: '/w/$workspaceId/history', label: texts.history.title },
] as const

export const everywhere = [
  { to: '/', label: texts.workspaces.title },
  { to: '/account', label: texts.account.title },
] as const
