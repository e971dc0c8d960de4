/** What is around every screen: navigation, the workspace, the palette of commands, and the ways out. */
import { Link, useMatch, useNavigate } from '@tanstack/react-router'
import { type ReactNode, useMemo, useState } from 'react'
import { Button } from '../parts/button.tsx'
import { CommandPalette, usePaletteCommands } from '../parts/overlays/command_palette.tsx'
import { Menu } from '../parts/overlays/menu.tsx'
import { Toasts } from '../parts/overlays/toasts.tsx'
import { ErrorBoundary } from '../parts/states/error_boundary.tsx'
import { chooseTheme, chosenTheme, themes } from '../parts/theme.ts'
import { useAsk, useCommand } from '../queries.ts'
import { texts } from '../texts/index.ts'
import { areas } from './navigation.ts'

type Props = { email: string; children: ReactNode }

export default function Frame({ email, children }: Props) {
  const lock = useCommand('accounts.lock')
  const logOut = useCommand('accounts.logOut')
  const words = texts.common
  return (
    <div className="frame">
      <a className="skip" href="#content">
        {words.toContent}
      </a>
      <header className="frame-bar">
        <Link to="/" className="frame-name">
          {words.appName}
        </Link>
        <WorkspaceSwitch />
        <span className="frame-space" />
        <ThemeSwitch />
        <Link to="/account" className="soft">
          {email}
        </Link>
        <Button kind="quiet" onPress={() => lock.mutate(null)}>
          {words.lock}
        </Button>
        <Button kind="quiet" onPress={() => logOut.mutate(null)}>
          {words.logOut}
        </Button>
      </header>
      <Areas />
      <main id="content" className="frame-content" tabIndex={-1}>
        <ErrorBoundary>{children}</ErrorBoundary>
      </main>
      <CommandPalette />
      <Toasts />
    </div>
  )
}

/** Null outside of a workspace. */
function useWorkspaceId(): string | null {
  const match = useMatch({ from: '/w/$workspaceId', shouldThrow: false })
  return match?.params.workspaceId ?? null
}

function WorkspaceSwitch() {
  const { data = [] } = useAsk('workspaces.list', null)
  const navigate = useNavigate()
  const current = useWorkspaceId()
  const shown = data.find(({ id }) => id === current)
  const choices = data.map(({ id, name }) => ({
    id,
    label: name,
    act: () => navigate({ to: '/w/$workspaceId', params: { workspaceId: id } }),
  }))
  if (choices.length === 0) return null
  const label = shown?.name ?? texts.common.workspace
  return (
    <Menu label={`${label} ▾`} name={`${texts.common.workspace}: ${label}`} choices={choices} />
  )
}

function ThemeSwitch() {
  const [theme, setTheme] = useState(chosenTheme)
  const words = texts.common
  const choices = themes.map((id) => ({
    id,
    label: words.themes[id],
    act: () => {
      chooseTheme(id)
      setTheme(id)
    },
  }))
  return <Menu label="◐" name={`${words.theme}: ${words.themes[theme]}`} choices={choices} />
}

function Areas() {
  const workspaceId = useWorkspaceId()
  const navigate = useNavigate()
  const commands = useMemo(
    () =>
      workspaceId === null
        ? []
        : areas.map(({ to, label }) => ({
            id: to,
            label,
            act: () => void navigate({ to, params: { workspaceId } }),
          })),
    [workspaceId, navigate],
  )
  usePaletteCommands(commands)
  if (workspaceId === null) return null
  return (
    <nav className="frame-areas" aria-label={texts.common.navigation}>
      {areas.map(({ to, label }) => (
        <Link key={to} to={to} params={{ workspaceId }} className="frame-area">
          {label}
        </Link>
      ))}
    </nav>
  )
}
