/** The page: starts the worker of the keys, then shows the screen of the address. */
import './styles/index.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { accountState, ask } from './keys/ask.ts'
import { ErrorBoundary } from './parts/states/error_boundary.tsx'
import { applyTheme } from './parts/theme.ts'
import { queryClient } from './queries.ts'
import { router } from './router.tsx'

applyTheme()

/** Milliseconds between two words to the worker that somebody works here. */
const STIR_MS = 10_000
let stirred = Number.NEGATIVE_INFINITY
const stir = () => {
  if (performance.now() - stirred < STIR_MS) return
  stirred = performance.now()
  void ask('accounts.stir', null)
}
for (const sign of ['pointerdown', 'keydown', 'wheel'] as const) {
  addEventListener(sign, stir, { passive: true })
}
stir()

/** Milliseconds after which a page that is seen asks whether its session was ended elsewhere. */
const CHECK_MS = 60_000
const check = () => {
  if (document.visibilityState !== 'visible' || accountState()?.kind !== 'open') return
  void ask('accounts.check', null).catch(() => {})
}
addEventListener('visibilitychange', check)
setInterval(check, CHECK_MS)

const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <StrictMode>
      <ErrorBoundary>
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </ErrorBoundary>
    </StrictMode>,
  )
}
