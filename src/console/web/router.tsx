/**
 * The page's addresses. Each area is loaded when it is first shown. Filters are in the address, secrets never are.
 * A user who is signed out or locked signs in at the address that they opened.
 */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
  redirect,
  useLocation,
} from '@tanstack/react-router'
import { useCurrentWorkspace } from './frame/current_workspace.ts'
import { AccountGate } from './gate.tsx'
import { ScreenFailed } from './parts/page/error_boundary.tsx'
import { Loading } from './parts/page/loading.tsx'
import { useAsk } from './queries.ts'
import { auditSearch } from './screens/audit/search.ts'
import { readInvitationLink } from './screens/workspaces/link.ts'

const root = createRootRoute({
  component: AccountGate,
  notFoundComponent: lazyRouteComponent(() => import('./parts/page/not_found.tsx'), 'NotFound'),
})

const home = createRoute({ getParentRoute: () => root, path: '/', component: Home })

/** Opens the overview of the last workspace, or the list of workspaces without one. */
function Home() {
  const { isPending } = useAsk('workspaces.list', null)
  const current = useCurrentWorkspace()
  if (isPending) return <Loading />
  return current ? (
    <Navigate
      to="/w/$workspaceId/overview"
      params={{ workspaceId: current.workspace.id }}
      replace
    />
  ) : (
    <Navigate to="/workspaces" replace />
  )
}

const workspaces = createRoute({
  getParentRoute: () => root,
  path: '/workspaces',
  component: lazyRouteComponent(() => import('./screens/workspaces/index.tsx'), 'Workspaces'),
})

/** Opens the invitation if the user came by an invitation link. */
function Entered() {
  // Select the hash alone. A render for each change of the address would navigate without end.
  const hash = useLocation({ select: (location) => location.hash })
  return readInvitationLink(hash) ? (
    <Navigate to="/invitation" hash={hash} replace />
  ) : (
    <Navigate to="/" replace />
  )
}

/** The gate shows these addresses to signed-out users, and redirects everyone else. */
const entrances = (['/login', '/register', '/recover'] as const).map((path) =>
  createRoute({
    getParentRoute: () => root,
    path,
    component: Entered,
  }),
)

const account = createRoute({
  getParentRoute: () => root,
  path: '/account',
  component: lazyRouteComponent(() => import('./screens/account/index.tsx'), 'AccountScreen'),
})

const workspace = createRoute({ getParentRoute: () => root, path: '/w/$workspaceId' })

const workspaceHome = createRoute({
  getParentRoute: () => workspace,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/w/$workspaceId/overview', params })
  },
})

const overview = createRoute({
  getParentRoute: () => workspace,
  path: 'overview',
  component: lazyRouteComponent(() => import('./screens/overview/index.tsx'), 'Overview'),
})

const settings = createRoute({
  getParentRoute: () => workspace,
  path: 'settings',
  component: lazyRouteComponent(() => import('./screens/settings/index.tsx'), 'WorkspaceSettings'),
})

const firstSteps = createRoute({
  getParentRoute: () => workspace,
  path: 'first-steps',
  component: lazyRouteComponent(() => import('./screens/first_steps/index.tsx'), 'FirstSteps'),
})

const secrets = createRoute({
  getParentRoute: () => workspace,
  path: 'secrets',
  validateSearch: (search): SecretsSearch => ({
    ...readTextParameter('project', search),
    ...readTextParameter('environment', search),
    ...readTextParameter('key', search),
    ...readTextParameter('find', search),
    ...readTextParameter('show', search),
    ...readTextParameter('pane', search),
  }),
  component: lazyRouteComponent(() => import('./screens/secrets/index.tsx'), 'Secrets'),
})

/** The open project, environment and secret, by name. */
type SecretsSearch = {
  [name in 'project' | 'environment' | 'key' | 'find' | 'show' | 'pane']?: string
}

const members = createRoute({
  getParentRoute: () => workspace,
  path: 'members',
  validateSearch: (search): { member?: string; invite?: string; find?: string } => ({
    ...readTextParameter('member', search),
    ...readTextParameter('invite', search),
    ...readTextParameter('find', search),
  }),
  component: lazyRouteComponent(() => import('./screens/members/index.tsx'), 'Members'),
})

const history = createRoute({
  getParentRoute: () => workspace,
  path: 'history',
  validateSearch: (search): { change?: string } => readTextParameter('change', search),
  component: lazyRouteComponent(() => import('./screens/history/index.tsx'), 'History'),
})

const audit = createRoute({
  getParentRoute: () => workspace,
  path: 'audit',
  validateSearch: auditSearch,
  component: lazyRouteComponent(() => import('./screens/audit/index.tsx'), 'AuditScreen'),
})

const instance = createRoute({
  getParentRoute: () => root,
  path: '/instance',
  component: lazyRouteComponent(() => import('./screens/instance/index.tsx'), 'Instance'),
})

/** An invitation link has its contents after the `#`. */
const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitation',
  validateSearch: (search): { workspace?: string } => readTextParameter('workspace', search),
  component: lazyRouteComponent(() => import('./screens/workspaces/invitation.tsx'), 'Invitation'),
})

const agents = createRoute({
  getParentRoute: () => workspace,
  path: 'agents',
  validateSearch: (search): { make?: string; show?: string } => ({
    ...readTextParameter('make', search),
    ...readTextParameter('show', search),
  }),
  component: lazyRouteComponent(() => import('./screens/agents/index.tsx'), 'Agents'),
})

const live = createRoute({
  getParentRoute: () => workspace,
  path: 'live',
  validateSearch: (search): LiveSearch => ({
    ...readTextParameter('show', search),
    ...readTextParameter('agent', search),
    ...readTextParameter('host', search),
    ...readTextParameter('secret', search),
    ...readTextParameter('open', search),
  }),
  component: lazyRouteComponent(() => import('./screens/live/index.tsx'), 'Live'),
})

/** The filters, and the ID of the call or waiting item in the inspector. */
type LiveSearch = { [name in 'show' | 'agent' | 'host' | 'secret' | 'open']?: string }

const allowlist = createRoute({
  getParentRoute: () => workspace,
  path: 'allowlist',
  component: lazyRouteComponent(() => import('./screens/allowlist/index.tsx'), 'Allowlist'),
})

/** A search parameter if it is text, otherwise nothing. */
function readTextParameter<N extends string>(name: N, search: Record<string, unknown>) {
  const value = search[name]
  return (typeof value === 'string' ? { [name]: value } : {}) as { [key in N]?: string }
}

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    workspaces,
    ...entrances,
    account,
    invitation,
    instance,
    workspace.addChildren([
      workspaceHome,
      overview,
      settings,
      firstSteps,
      secrets,
      members,
      audit,
      history,
      agents,
      live,
      allowlist,
    ]),
  ]),
  basepath: '/console',
  defaultPreload: 'intent',
  defaultErrorComponent: ({ error, reset }) => <ScreenFailed error={error} again={reset} />,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
