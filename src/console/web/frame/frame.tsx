/** What is around every screen: navigation, the workspace, the palette of commands, and the ways out. */
import { useQuery } from '@tanstack/react-query'
import { Link, useLocation, useMatch, useNavigate } from '@tanstack/react-router'
import {
  lazy,
  type ReactNode,
  Suspense,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import { useLandmark } from 'react-aria/useLandmark'
import { clockSentence } from '../../../client/http/clock_difference.ts'
import { clockDifference, onClockDifference } from '../../../client/http/transport.browser.ts'
import { getMe } from '../../../features/accounts/contract.ts'
import { api } from '../api.ts'
import { useAway } from '../away.ts'
import type { Returned } from '../keys/messages.ts'
import { Button } from '../parts/button.tsx'
import { CommandPalette, usePaletteCommands } from '../parts/overlays/command_palette.tsx'
import { Menu } from '../parts/overlays/menu.tsx'
import { Toasts } from '../parts/overlays/toasts.tsx'
import { Banner } from '../parts/page/banner.tsx'
import { ErrorBoundary } from '../parts/page/error_boundary.tsx'
import { chooseTheme, chosenTheme, themes } from '../parts/theme.ts'
import { useAccountState, useAsk, useCommand } from '../queries.ts'
import { texts } from '../texts/index.ts'
import { areas, begun, everywhere } from './navigation.ts'
import { WaitingCount } from './waiting_count.tsx'
import { workspaceLabel } from './workspace_label.ts'

type Props = { email: string; children: ReactNode }

const Refusals = lazy(() => import('./changed_names.tsx'))

export default function Frame({ email, children }: Props) {
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
        <CommandPalette />
        <InstanceLink />
        <ThemeSwitch />
        <Link to="/account" className="soft frame-who">
          {email}
        </Link>
        <WaysOut />
      </header>
      <Areas />
      <Content>{children}</Content>
      <Toasts />
    </div>
  )
}

function Content({ children }: { children: ReactNode }) {
  const ref = useRef<HTMLElement>(null)
  const { landmarkProps } = useLandmark({ role: 'main' }, ref)
  const isAway = useAway()
  const clocks = useClockSentence()
  const workspaceId = useWorkspaceId()
  return (
    <main {...landmarkProps} ref={ref} id="content" className="frame-content" tabIndex={-1}>
      <div role="status">
        {isAway ? <Banner kind="warning">{texts.errors.away}</Banner> : null}
        {clocks ? (
          <Banner kind="warning">
            {clocks} {texts.errors.clocks}
          </Banner>
        ) : null}
        <LockWarning />
      </div>
      <Suspense>
        <Refusals workspaceId={workspaceId} />
      </Suspense>
      <ErrorBoundary>{children}</ErrorBoundary>
    </main>
  )
}

/** For who made the first account. */
function InstanceLink() {
  const { data } = useQuery({ queryKey: ['me'], queryFn: () => api.call(getMe, {}) })
  if (!data?.is_instance_owner) return null
  return (
    <Link to="/instance" className="soft">
      {texts.instance.title}
    </Link>
  )
}

/** Null outside of a workspace. */
function useWorkspaceId(): string | null {
  const match = useMatch({ from: '/w/$workspaceId', shouldThrow: false })
  return match?.params.workspaceId ?? null
}

const NO_WORKSPACES: Returned<'workspaces.list'> = []

function WorkspaceSwitch() {
  const { data = NO_WORKSPACES } = useAsk('workspaces.list', null)
  const navigate = useNavigate()
  const current = useWorkspaceId()
  const shown = data.find(({ id }) => id === current)
  const choices = useMemo(
    () =>
      data.map((each) => ({
        id: each.id,
        label: workspaceLabel(each, data),
        act: () => void navigate({ to: '/w/$workspaceId', params: { workspaceId: each.id } }),
      })),
    [data, navigate],
  )
  usePaletteCommands(choices)
  if (choices.length === 0) return null
  const label = shown ? workspaceLabel(shown, data) : texts.common.workspace
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
    () => [
      ...everywhere.map(({ to, label }) => ({ id: to, label, act: () => void navigate({ to }) })),
      ...(workspaceId === null ? [] : areas).map(({ to, label }) => ({
        id: to,
        label,
        act: () => void navigate({ to, params: { workspaceId: workspaceId ?? '' } }),
      })),
      ...(workspaceId === null ? [] : begun).map(({ id, label, to, search }) => ({
        id,
        label,
        act: () => void navigate({ to, params: { workspaceId: workspaceId ?? '' }, search }),
      })),
    ],
    [workspaceId, navigate],
  )
  usePaletteCommands(commands)
  const ref = useRef<HTMLElement>(null)
  const { landmarkProps } = useLandmark({ role: 'navigation' }, ref)
  const path = useLocation({ select: ({ pathname }) => pathname })
  // biome-ignore lint/correctness/useExhaustiveDependencies: another area is another one to be in sight.
  useEffect(() => {
    ref.current?.querySelector('[aria-current=page]')?.scrollIntoView({ inline: 'center' })
  }, [path])
  if (workspaceId === null) return null
  return (
    <nav {...landmarkProps} ref={ref} className="frame-areas" aria-label={texts.common.navigation}>
      {areas.map(({ to, label }) => (
        <Link key={to} to={to} params={{ workspaceId }} className="frame-area">
          {label}
          {to === '/w/$workspaceId/live' ? <WaitingCount workspaceId={workspaceId} /> : null}
        </Link>
      ))}
    </nav>
  )
}

const words = texts.common

function WaysOut() {
  const { mutate: lock } = useCommand('accounts.lock')
  const { mutate: logOut } = useCommand('accounts.logOut')
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey && event.shiftKey && event.code === 'KeyL')) return
      event.preventDefault()
      lock(null)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [lock])
  const commands = useMemo(
    () => [
      { id: 'lock', label: words.lockByKeys, act: () => lock(null) },
      { id: 'log-out', label: words.logOut, act: () => logOut(null) },
    ],
    [lock, logOut],
  )
  usePaletteCommands(commands)
  return (
    <>
      <Button kind="ghost" aria-keyshortcuts="Control+Shift+L" onPress={() => lock(null)}>
        {words.lock}
      </Button>
      <Button kind="ghost" onPress={() => logOut(null)}>
        {words.logOut}
      </Button>
    </>
  )
}

const endingWords = texts.common.ending

function LockWarning() {
  const account = useAccountState()
  const stay = useCommand('accounts.stay')
  if (account?.kind !== 'open' || !account.isEnding) return null
  return (
    <Banner kind="warning">
      <p>{account.until === null ? endingWords.idle : endingWords.time}</p>
      <Button onPress={() => stay.mutate({})}>{endingWords.goOn}</Button>
    </Banner>
  )
}

/** A sentence with both times; null while the clocks agree. */
function useClockSentence(): string | null {
  const difference = useSyncExternalStore(onClockDifference, clockDifference)
  return difference && clockSentence(difference)
}
