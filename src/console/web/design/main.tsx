/** The design page: every part of the console with its rule. `bun run design` serves it; no release contains it. */
import '../styles/index.css'
import {
  createMemoryHistory,
  createRootRoute,
  createRouter,
  RouterContextProvider,
} from '@tanstack/react-router'
import { createRoot } from 'react-dom/client'
import { Toasts } from '../parts/overlays/toasts.tsx'
import { DesignPage } from './page.tsx'

/** Its links lead nowhere. */
const router = createRouter({
  routeTree: createRootRoute(),
  history: createMemoryHistory({ initialEntries: ['/'] }),
})

const root = document.getElementById('root')
if (root)
  createRoot(root).render(
    <RouterContextProvider router={router}>
      <DesignPage />
      <Toasts />
    </RouterContextProvider>,
  )
