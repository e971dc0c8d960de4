/** What is around every screen: navigation, workspace, and the ways out. */
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Button } from '../parts/button.tsx'
import { useCommand } from '../queries.ts'
import { texts } from '../texts/index.ts'

export function Frame({ email, children }: { email: string; children: ReactNode }) {
  const lock = useCommand('accounts.lock')
  const logOut = useCommand('accounts.logOut')
  return (
    <div className="frame">
      <header className="frame-bar">
        <Link to="/" className="frame-name">
          {texts.common.appName}
        </Link>
        <span className="frame-space" />
        <Link to="/account" className="soft">
          {email}
        </Link>
        <Button kind="quiet" onPress={() => lock.mutate(null)}>
          {texts.common.lock}
        </Button>
        <Button kind="quiet" onPress={() => logOut.mutate(null)}>
          {texts.common.logOut}
        </Button>
      </header>
      <main className="frame-content">{children}</main>
    </div>
  )
}
