/** Calls as they happen: who, what, how it ended and why, held still while someone reads or signs, and filtered. */
import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState } from 'react'
import { AskError } from '../../keys/ask.ts'
import { Button } from '../../parts/button.tsx'
import { Select } from '../../parts/fields/select.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { Banner } from '../../parts/page/banner.tsx'
import { EmptyState } from '../../parts/page/empty_state.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { queryClient } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { CallRow } from './call_row.tsx'
import { HoldContext, useHeld } from './hold.ts'
import { type LiveCall, type LiveState, useLiveCalls } from './stream.ts'
import { type Filter, isShown, type ShownCall } from './words.ts'

const route = getRouteApi('/w/$workspaceId/live')
const words = texts.live

const Waiting = lazy(() => import('../waiting/index.tsx'))

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

function Stream({ workspaceId, again }: { workspaceId: string; again(): void }) {
  const now = useLiveCalls(workspaceId)
  useNewlyWaiting(now)
  const [isPaused, setPaused] = useState(false)
  const { shown, isHeld, hold, pointing } = useHeld(now, isPaused)
  const shownIds = new Set(shown.calls.map(({ id }) => id))
  const waiting = now.calls.filter(({ id }) => !shownIds.has(id)).length
  return (
    <section className="stack">
      <h1>{words.title}</h1>
      <div className="row">
        <State now={shown} again={again} />
        <Button onPress={() => setPaused(!isPaused)}>{isPaused ? words.goOn : words.pause}</Button>
        <span role="status">{waiting > 0 ? words.waiting(waiting) : ''}</span>
      </div>
      <Suspense>
        <Waiting workspaceId={workspaceId} isHeld={isHeld} />
      </Suspense>
      {shown.isGap ? <Banner kind="warning">{words.gap}</Banner> : null}
      <HoldContext value={hold}>
        <Filtered
          workspaceId={workspaceId}
          calls={shown.calls}
          isOpen={shown.state === 'open'}
          pointing={pointing}
        />
      </HoldContext>
    </section>
  )
}

/** Reads what waits again when a record says that a request or proposal came, or was decided. */
function useNewlyWaiting({ calls }: LiveState): void {
  const newest = calls.find(isAboutWaiting)?.id
  useEffect(() => {
    if (newest) void queryClient.invalidateQueries({ queryKey: ['approvals.waiting'] })
  }, [newest])
}

function isAboutWaiting({ reason, action }: LiveCall): boolean {
  return reason === 'approval_required' || /^(approval|proposal)\./.test(action ?? '')
}

function State({ now: { state, code }, again }: { now: LiveState; again(): void }) {
  if (state !== 'ended') {
    const kind = { opening: '', open: 'badge-good', waiting: 'badge-warning' }[state]
    return (
      <p className={`badge ${kind}`} role="status">
        {words.states[state]}
      </p>
    )
  }
  const failure = { code: code ?? '', message: words.states.ended, fields: [], requestId: null }
  return (
    <div className="stack">
      <FailureNote error={new AskError(failure)} />
      <div>
        <Button onPress={again}>{words.again}</Button>
      </div>
    </div>
  )
}

const shownOptions = (Object.keys(words.shown) as ShownCall[]).map((id) => ({
  id,
  label: words.shown[id],
}))

/** The filter is in the address, so that a link shows the same. */
function useFilter(): [Filter, (changed: Partial<Filter>) => void] {
  const { show, agent = '', text = '' } = route.useSearch()
  const navigate = route.useNavigate()
  const chosen = shownOptions.find(({ id }) => id === show)?.id ?? 'all'
  const change = (changed: Partial<Filter>) =>
    void navigate({ search: (before) => ({ ...before, ...changed }), replace: true })
  return [{ show: chosen, agent, text }, change]
}

function Nothing({ isFiltered, all }: { isFiltered: boolean; all(): void }) {
  if (isFiltered) {
    return (
      <EmptyState title={words.noneFound}>
        <div>
          <Button onPress={all}>{words.showAll}</Button>
        </div>
      </EmptyState>
    )
  }
  return (
    <EmptyState title={words.none} command={words.noneCommand}>
      <p>{words.noneHelp}</p>
    </EmptyState>
  )
}

type Listed = {
  workspaceId: string
  calls: readonly LiveCall[]
  isOpen: boolean
  pointing: ReturnType<typeof useHeld>['pointing']
}

function Filtered({ workspaceId, calls, isOpen, pointing }: Listed) {
  const [filter, change] = useFilter()
  const found = calls.filter((call) => isShown(call, filter))
  const isFiltered = filter.show !== 'all' || filter.agent !== '' || filter.text !== ''
  const all = () => change({ show: 'all', agent: '', text: '' })
  return (
    <>
      <div className="row">
        <Select
          label={words.show}
          options={shownOptions}
          value={filter.show}
          onChange={(show) => change({ show })}
        />
        <TextField
          label={words.agent}
          value={filter.agent}
          onChange={(agent) => change({ agent })}
        />
        <TextField label={words.text} value={filter.text} onChange={(text) => change({ text })} />
      </div>
      {found.length === 0 && isOpen ? <Nothing isFiltered={isFiltered} all={all} /> : null}
      <ol className="entries" aria-label={words.list} {...pointing}>
        {found.map((call) => (
          <CallRow key={call.id} workspaceId={workspaceId} call={call} />
        ))}
      </ol>
    </>
  )
}
