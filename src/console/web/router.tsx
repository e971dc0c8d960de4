/**
 * The addresses of the page. Each area is loaded when it is first shown; filters are in the address, and nothing
 * secret is. Who is not logged in, or has not unlocked, is asked for it at the address that they came to.
 */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router'
import { Gate } from './frame/gate.tsx'
import { NotFound } from './parts/not_found.tsx'

const root = createRootRoute({ component: Gate, notFoundComponent: NotFound })

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lazyRouteComponent(() => import('./screens/workspaces/index.tsx'), 'Workspaces'),
})

const start = (['/login', '/register'] as const).map((path) =>
  createRoute({
    getParentRoute: () => root,
    path,
    component: lazyRouteComponent(() => import('./screens/workspaces/index.tsx'), 'Workspaces'),
  }),
)

export const workspace = createRoute({ getParentRoute: () => root, path: '/w/$workspaceId' })

export const router = createRouter({
  routeTree: root.addChildren([home, ...start, workspace]),
  basepath: '/console',
  defaultPreload: 'intent',
  scrollRestoration: false,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
