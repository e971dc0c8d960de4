/** The areas of a workspace in the order of the sidebar. A new area is one entry here and one route. */
import {
  Activity,
  Ban,
  Bot,
  Building2,
  Globe,
  House,
  KeyRound,
  Link2,
  Plus,
  ScrollText,
  Settings,
  UserPlus,
  Users,
} from 'lucide-react'
import { texts } from '../texts/index.ts'

/** The search parameter of a form that is still empty. */
export const NEW = 'new'

const words = texts.common.areas

/** `key` follows G. */
export const areas = [
  { to: '/w/$workspaceId/overview', label: words.overview, icon: House, key: 'o' },
  { to: '/w/$workspaceId/secrets', label: words.secrets, icon: KeyRound, key: 's' },
  { to: '/w/$workspaceId/agents', label: words.agents, icon: Bot, key: 'a' },
  { to: '/w/$workspaceId/live', label: words.live, icon: Activity, key: 'l' },
  { to: '/w/$workspaceId/allowlist', label: words.allowlist, icon: Globe, key: 'h' },
] as const

export const workspaceAreas = [
  { to: '/w/$workspaceId/members', label: words.members, icon: Users, key: 'm' },
  { to: '/w/$workspaceId/audit', label: words.audit, icon: ScrollText, key: 'u' },
  { to: '/w/$workspaceId/history', label: words.history, icon: Link2, key: 'y' },
  { to: '/w/$workspaceId/settings', label: words.settings, icon: Settings, key: 'e' },
] as const

export const allAreas = [...areas, ...workspaceAreas]

/** Started from anywhere in a workspace. */
export const begun = [
  {
    id: 'new token',
    to: '/w/$workspaceId/agents',
    label: texts.agents.make,
    icon: Plus,
    search: { make: NEW },
  },
  {
    id: 'invite',
    to: '/w/$workspaceId/members',
    label: texts.members.invite.action,
    icon: UserPlus,
    search: { invite: NEW },
  },
  {
    id: 'revoke',
    to: '/w/$workspaceId/agents',
    label: texts.agents.revokeSome,
    icon: Ban,
    search: {},
  },
] as const

export const everywhere = [{ to: '/workspaces', label: words.workspaces, icon: Building2 }] as const
