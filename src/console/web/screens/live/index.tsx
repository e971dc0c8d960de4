/** Calls as they happen, what waits for a decision, and an inspector for either. */
import { getRouteApi } from '@tanstack/react-router'
import { Pause, Play } from 'lucide-react'
import { useEffect, useMemo, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { ScreenFailure } from '../../parts/page/failure.tsx'
import { Screen } from '../../parts/page/screen.tsx'
import { queryClient } from '../../queries.ts'
import { useShortcuts } from '../../shortcuts.ts'
import { texts } from '../../texts/index.ts'
import { useWaiting, type Waiting } from '../../waiting.ts'
import { WaitingPanel } from '../waiting/panel.tsx'
import { Calls } from './calls.tsx'
import { Figures } from './figures.tsx'
import { Filters, useFilter } from './filters.tsx'
import { useAttention, useHeld } from './hold.ts'
import { useLastHour } from './last_hour.ts'
import { OpenedCall } from './opened.tsx'
import { Gap, LiveState, StreamEnded } from './state.tsx'
import { type LiveCall, useLiveCalls } from './stream.ts'
import { isCall, matchesFilter } from './words.ts'

const route = getRouteApi('/w/$workspaceId/live')
const words = texts.live

/** While this screen is open, approvals are read this often. */
const EVERY_MS = 3_000

export function Live() {
  const { workspaceId } = route.useParams()
  const [tries, setTries] = useState(0)
  // Another try is another stream.
  return (
    <Stream
      key={`${workspaceId} ${tries}`}
      workspaceId={workspaceId}
      again={() => setTries(tries + 1)}
    />
  )
}

/** Without a connection, an empty list may be out of date, so it counts as unread. */
function useFeed(workspaceId: string) {
  const live = useLiveCalls(workspaceId)
  const isEmpty = live.state === 'waiting' && !live.calls.some(isCall)
  return isEmpty ? { ...live, isRead: false } : live
}

/** The address has the ID of the open item. */
function useOpened() {
  const { open } = route.useSearch()
  const navigate = route.useNavigate()
  const setOpen = (id: string | undefined) =>
    void navigate({ search: ({ open: _, ...rest }) => (id ? { ...rest, open: id } : rest) })
  return [open, setOpen] as const
}

function Stream({ workspaceId, again }: { workspaceId: string; again(): void }) {
  const live = useFeed(workspaceId)
  const { waiting, error, isRead } = useWaiting(workspaceId, EVERY_MS)
  useNewlyWaiting(live.calls)
  const [isPaused, setPaused] = useState(false)
  const [openId, setOpen] = useOpened()
  const { hasAttention, watching } = useAttention()
  const now = useMemo(() => ({ ...live, waiting }), [live, waiting])
  const isReady = live.isRead && isRead
  const isHeld = isPaused || openId !== undefined || hasAttention
  const { shown, refresh } = useHeld(now, isHeld, isReady)
  const { filter, change, isFiltered } = useFilter()
  const calls = useMemo(() => shown.calls.filter(isCall), [shown.calls])
  const found = useMemo(() => calls.filter((call) => matchesFilter(call, filter)), [calls, filter])
  const close = () => setOpen(undefined)
  return (
    <Screen
      title={words.title}
      state={<LiveState state={live.state} isPaused={isPaused} />}
      primary={<PauseButton isPaused={isPaused} onChange={setPaused} />}
      inspector={
        openId === undefined || !isReady ? null : (
          <OpenedCall
            key={openId}
            {...{ workspaceId, openId, shown, calls: live.calls, onClose: close }}
          />
        )
      }
    >
      <StreamEnded live={live} again={again} />
      <Figures hour={useLastHour(workspaceId, live)} />
      <div className="flex min-h-0 flex-1 flex-col" {...watching}>
        {shown.isGap ? <Gap workspaceId={workspaceId} /> : null}
        {error && !shown.waiting ? <ScreenFailure error={error} /> : null}
        {shown.waiting ? (
          <WaitingPanel {...{ workspaceId, openId, onOpen: setOpen }} waiting={shown.waiting} />
        ) : null}
        {isReady ? (
          <div className="flex shrink-0 items-center gap-2 px-5 py-1.5 phone:px-4">
            <Filters calls={calls} filter={filter} onChange={change} />
            <NewItems
              calls={countNew(live.calls, shown.calls)}
              waiting={countWaiting(waiting, shown.waiting)}
              onPress={refresh}
            />
          </div>
        ) : null}
        <div className="flex min-h-0 flex-1 flex-col border-t border-line">
          <Calls
            {...{ calls: found, openId, isFiltered }}
            isLoading={!isReady}
            hasEnded={live.state === 'ended'}
            onOpen={({ id }) => setOpen(id)}
            onShowAll={() =>
              change({ show: 'all', agent: undefined, host: undefined, secret: undefined })
            }
          />
        </div>
      </div>
    </Screen>
  )
}

function countNew(now: readonly LiveCall[], shown: readonly LiveCall[]): number {
  const known = new Set(shown.map(({ id }) => id))
  return now.filter((call) => isCall(call) && !known.has(call.id)).length
}

function countWaiting(now: Waiting | null, shown: Waiting | null): number {
  const known = new Set(shown?.items.map(({ id }) => id))
  return now?.items.filter(({ id }) => !known.has(id)).length ?? 0
}

type NewProps = { calls: number; waiting: number; onPress(): void }

/** Its place is always there, so that a number moves nothing. */
function NewItems({ calls, waiting, onPress }: NewProps) {
  const show = () => {
    onPress()
    document.querySelector('[role="grid"]')?.scrollTo(0, 0)
  }
  return (
    <span role="status" className="ml-auto flex h-7 shrink-0 items-center">
      {calls + waiting > 0 ? (
        <Button size="small" onPress={show}>
          {waiting > 0 ? <span>{words.newWaiting(waiting)}</span> : null}
          {calls > 0 ? <span>{words.newCalls(calls)}</span> : null}
        </Button>
      ) : null}
    </span>
  )
}

type PauseProps = { isPaused: boolean; onChange(isPaused: boolean): void }

function PauseButton({ isPaused, onChange }: PauseProps) {
  const label = isPaused ? words.resume : words.pause
  const shortcuts = useMemo(
    () => [{ keys: 'p', label, act: () => onChange(!isPaused) }],
    [label, isPaused, onChange],
  )
  useShortcuts(shortcuts)
  return (
    <Button icon={isPaused ? Play : Pause} shortcut="P" onPress={() => onChange(!isPaused)}>
      {label}
    </Button>
  )
}

/** Reads the waiting items again when a record reports a new one or a decision. */
function useNewlyWaiting(calls: readonly LiveCall[]): void {
  const approval = calls.find(isAboutApproval)?.id
  const host = calls.find(({ reason }) => reason === 'domain_blocked')?.id
  useEffect(() => {
    if (approval) void queryClient.invalidateQueries({ queryKey: ['approvals.waiting'] })
  }, [approval])
  useEffect(() => {
    if (host) void queryClient.invalidateQueries({ queryKey: ['live.refused'] })
  }, [host])
}

function isAboutApproval({ reason, action }: LiveCall): boolean {
  return reason === 'approval_required' || /^(approval|proposal)\./.test(action ?? '')
}
