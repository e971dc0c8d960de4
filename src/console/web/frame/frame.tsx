/** The frame of every screen: the sidebar, or tabs on a phone, with the palette, shortcuts and notices. */
import { useNavigate } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense, useEffect, useMemo, useRef } from 'react'
import { useLandmark } from 'react-aria/useLandmark'
import { Toasts } from '../parts/overlays/toasts.tsx'
import { ErrorBoundary } from '../parts/page/error_boundary.tsx'
import { NoMember, NotFound } from '../parts/page/not_found.tsx'
import { useAsk } from '../queries.ts'
import { useShortcutKeys, useShortcuts } from '../shortcuts.ts'
import { setTerminalWorkspace } from '../terminal.ts'
import { texts } from '../texts/index.ts'
import { useCurrentWorkspace, useMissingWorkspace } from './current_workspace.ts'
import { allAreas, begun, everywhere } from './navigation.ts'
import { PageNotices } from './notices.tsx'
import { CommandPalette } from './palette/index.tsx'
import { usePaletteCommands } from './palette_state.ts'
import { PhoneTabs } from './phone_tabs.tsx'
import { ShortcutList } from './shortcut_list.tsx'
import { Sidebar } from './sidebar.tsx'
import { UnsavedGuard } from './unsaved_guard.tsx'
import { WorkspaceMenu } from './workspace_menu.tsx'

type Props = { email: string; children: ReactNode }

const Refusals = lazy(() => import('./changed_names.tsx'))

export default function Frame({ email, children }: Props) {
  useAreaCommands()
  useTerminalWorkspace()
  useShortcutKeys()
  return (
    <div className="flex h-full min-w-0 phone:flex-col">
      <a
        className="absolute -left-[9999px] z-40 rounded-control bg-bg px-3 py-1.5 focus:top-2 focus:left-2"
        href="#content"
      >
        {texts.common.toContent}
      </a>
      <Sidebar email={email} />
      <div className="absolute top-[9px] left-2.5 z-1 desk:hidden">
        <WorkspaceMenu isSmall />
      </div>
      <Content>{children}</Content>
      <PhoneTabs />
      <PageNotices />
      <Toasts />
      <CommandPalette />
      <ShortcutList />
      <UnsavedGuard />
    </div>
  )
}

function Content({ children }: { children: ReactNode }) {
  const ref = useRef<HTMLElement>(null)
  const { landmarkProps } = useLandmark({ role: 'main' }, ref)
  const workspaceId = useCurrentWorkspace()?.workspace.id ?? null
  const missing = useMissingWorkspace()
  return (
    <main
      {...landmarkProps}
      ref={ref}
      id="content"
      className="flex min-h-0 min-w-0 flex-1 flex-col"
      tabIndex={-1}
    >
      <Suspense>
        <Refusals workspaceId={workspaceId} />
      </Suspense>
      <ErrorBoundary>
        {missing === null ? children : missing.wasMember ? <NoMember /> : <NotFound />}
      </ErrorBoundary>
    </main>
  )
}

/** Commands for a terminal name this workspace if there are others. */
function useTerminalWorkspace(): void {
  const { data } = useAsk('workspaces.list', null)
  const current = useCurrentWorkspace()?.workspace.name ?? null
  const name = data && data.length > 1 ? current : null
  useEffect(() => setTerminalWorkspace(name), [name])
}

/** Areas by palette and by `G` with a letter. */
function useAreaCommands(): void {
  const workspaceId = useCurrentWorkspace()?.workspace.id
  const navigate = useNavigate()
  const shortcuts = useMemo(() => {
    if (workspaceId === undefined) return []
    const params = { workspaceId }
    return allAreas.map(({ to, label, icon, key }) => ({
      id: to,
      icon,
      keys: `g ${key}`,
      label,
      act: () => void navigate({ to, params }),
    }))
  }, [workspaceId, navigate])
  const commands = useMemo(
    () => [
      ...shortcuts.map((each) => ({ ...each, group: 'places' as const })),
      ...everywhere.map(({ to, label, icon }) => ({
        ...{ id: to, label, icon, group: 'places' as const },
        act: () => void navigate({ to }),
      })),
      ...(workspaceId === undefined ? [] : begun).map(({ id, label, icon, to, search }) => ({
        id,
        label,
        icon,
        isCommon: true,
        act: () => void navigate({ to, params: { workspaceId: workspaceId ?? '' }, search }),
      })),
    ],
    [workspaceId, navigate, shortcuts],
  )
  usePaletteCommands(commands)
  useShortcuts(shortcuts)
}
