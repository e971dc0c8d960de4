/** The page: starts the keys' worker and shows the screen of the address, or the reason why it can't. */
import './styles/index.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { keepUnlockedWhileUsed } from './frame/activity.ts'
import { accountState, ask } from './keys/ask.ts'
import { ErrorBoundary } from './parts/page/error_boundary.tsx'
import { applyTheme } from './parts/theme.ts'
import { queryClient } from './queries.ts'
import { router } from './router.tsx'
import { Insecure } from './screens/start/insecure.tsx'

applyTheme()

const root = document.getElementById('root')
if (root) createRoot(root).render(isSecureContext ? startConsole() : <Insecure />)

/** Starts the keys' worker, which needs Web Crypto, and returns the page. */
function startConsole() {
  keepUnlockedWhileUsed()
  checkSessionWhileSeen()
  return (
    <StrictMode>
      <ErrorBoundary>
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </ErrorBoundary>
    </StrictMode>
  )
}

/** Checks at this interval, and when the page becomes visible, whether the session was ended elsewhere. */
function checkSessionWhileSeen(everyMs = 60_000): void {
  const check = () => {
    if (document.visibilityState !== 'visible' || accountState.get()?.kind !== 'open') return
    void ask('accounts.check', null).catch(() => {})
  }
  addEventListener('visibilitychange', check)
  setInterval(check, everyMs)
}
