/** The signed changes of a workspace, newest first, and their verdict. */
import { getRouteApi } from '@tanstack/react-router'
import { ShieldAlert, ShieldCheck } from 'lucide-react'
import { useCallback, useDeferredValue, useMemo, useState } from 'react'
import type { Returned } from '../../keys/messages.ts'
import { Button } from '../../parts/button.tsx'
import { SearchField } from '../../parts/fields/search_field.tsx'
import { DataGrid, type GridColumn } from '../../parts/grid/grid.tsx'
import { opensColumn } from '../../parts/grid/opens.tsx'
import { Icon } from '../../parts/icon.tsx'
import { EmptyState } from '../../parts/page/empty_state.tsx'
import { ScreenFailure } from '../../parts/page/failure.tsx'
import { Proof } from '../../parts/page/proof.tsx'
import { Screen } from '../../parts/page/screen.tsx'
import { SkeletonRows } from '../../parts/page/skeleton.tsx'
import { CopyButton } from '../../parts/show/copy.tsx'
import { dayText, timeOf } from '../../parts/show/moments.ts'
import { Status } from '../../parts/show/status.tsx'
import { useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { LinkInspector, type SignedLink } from './link.tsx'
import { useVerification, VerificationResult } from './verify.tsx'

/** Fewer characters of a hash would be found in words. */
const HASH_CHARACTERS = 6
const route = getRouteApi('/w/$workspaceId/history')
const words = texts.history

type Read = NonNullable<Returned<'history.read'>>

const columns: readonly GridColumn<SignedLink>[] = [
  { id: 'at', header: words.time, width: '110px', cell: ({ at }) => <Time at={at} /> },
  { id: 'by', header: words.who, width: '220px', cell: ({ by }) => by, sortBy: ({ by }) => by },
  {
    id: 'what',
    header: words.change,
    width: 'minmax(0, 1fr)',
    isRowHeader: true,
    cell: ({ what }) => (
      <span className="block truncate text-ink-2 first-letter:uppercase" title={what}>
        {what}
      </span>
    ),
  },
  {
    id: 'seq',
    header: words.number,
    width: '80px',
    cell: ({ seq }) => <span className="text-ink-3 tabular-nums">{seq}</span>,
    sortBy: ({ seq }) => seq,
  },
  opensColumn,
]

function Time({ at }: { at: string }) {
  return <span className="text-ink-2 tabular-nums">{timeOf(at)}</span>
}

export function History() {
  const { workspaceId } = route.useParams()
  const { data, error } = useAsk('history.read', { workspaceId })
  const [find, setFind] = useState('')
  const verification = useVerification(workspaceId)
  const isSound = data?.fault === null
  return (
    <Screen
      title={texts.common.areas.history}
      state={data ? <Verdict isSound={isSound} /> : null}
      primary={
        isSound ? (
          <Button isPending={verification.isRunning} icon={ShieldCheck} onPress={verification.run}>
            {words.verify}
          </Button>
        ) : null
      }
      toolbar={
        data ? (
          <SearchField
            label={words.find}
            placeholder={words.findBy}
            value={find}
            onChange={setFind}
            shortcut="/"
            isWide
          />
        ) : null
      }
      inspector={data ? <Opened links={data.links} /> : null}
    >
      {error ? <ScreenFailure error={error} /> : null}
      {data === undefined && !error ? <SkeletonRows count={12} hasHeader /> : null}
      {data === null ? <EmptyState icon={ShieldAlert} title={words.notSigned} /> : null}
      {data ? (
        <>
          <Strip read={data} />
          <VerificationResult {...verification} />
          <Links links={data.links} find={find} />
        </>
      ) : null}
    </Screen>
  )
}

/** A phone has room for the strip alone, which has the same verdict. */
function Verdict({ isSound }: { isSound: boolean }) {
  return (
    <span className="contents phone:hidden">
      <Status tone={isSound ? 'green' : 'red'} icon={isSound ? ShieldCheck : ShieldAlert}>
        {isSound ? words.verified : words.broken}
      </Status>
    </span>
  )
}

function Strip({ read: { fault, first, links } }: { read: Read }) {
  const isSound = fault === null
  const tone = isSound ? 'bg-green-soft text-green' : 'bg-red-soft text-red'
  return (
    <div
      role={isSound ? 'note' : 'alert'}
      className={`flex shrink-0 gap-2 border-b border-line px-5 py-1.5 phone:px-4 ${tone}`}
    >
      <span className="flex h-5 items-center">
        <Icon of={isSound ? ShieldCheck : ShieldAlert} />
      </span>
      <div className="flex min-w-0 flex-1 flex-wrap items-center gap-x-4 gap-y-1 phone:gap-x-2">
        <p className="font-medium">
          {isSound ? words.verifiedStrip(links.length) : words.brokenStrip}
        </p>
        {isSound ? null : <p className="text-ink-2">{words.brokenHelp}</p>}
        <Proof>
          {fault ? <p>{fault}</p> : null}
          {first ? (
            <>
              <p>{words.firstHelp}</p>
              <CopyButton text={first} name={words.first} />
            </>
          ) : null}
        </Proof>
      </div>
    </div>
  )
}

function Links({ links, find }: Pick<Read, 'links'> & { find: string }) {
  const navigate = route.useNavigate()
  const { change } = route.useSearch()
  const sought = useDeferredValue(find).trim().toLowerCase()
  const rows = useMemo(
    () => links.filter((link) => isFound(link, sought)).toReversed(),
    [links, sought],
  )
  const open = useCallback(
    ({ seq }: SignedLink) => void navigate({ search: { change: String(seq) } }),
    [navigate],
  )
  return (
    <>
      <p className="sr-only" role="status">
        {words.shown(rows.length, links.length)}
      </p>
      <DataGrid
        label={words.links}
        columns={columns}
        rows={rows}
        idOf={idOfLink}
        openId={change}
        onOpen={open}
        sectionOf={dayOfLink}
        phone={PhoneRow}
        empty={links.length === 0 ? null : <EmptyState title={words.nothingFound} />}
      />
    </>
  )
}

const idOfLink = ({ seq }: SignedLink) => String(seq)
const dayOfLink = ({ at }: SignedLink) => dayText(at)

function PhoneRow({ what, by, at }: SignedLink) {
  return (
    <div className="min-w-0">
      <div className="truncate first-letter:uppercase">{what}</div>
      <div className="truncate text-small text-ink-3">
        {timeOf(at)} · {by}
      </div>
    </div>
  )
}

function Opened({ links }: Pick<Read, 'links'>) {
  const navigate = route.useNavigate()
  const { change } = route.useSearch()
  const link = links.find(({ seq }) => String(seq) === change)
  if (!link) return null
  return <LinkInspector link={link} onClose={() => void navigate({ search: {} })} />
}

/** Matches a change by its words, its signer, its number, or the beginning of its hash. */
function isFound({ seq, by, what, hash }: SignedLink, sought: string): boolean {
  if (String(seq) === sought) return true
  if (`${by} ${what}`.toLowerCase().includes(sought)) return true
  return sought.length >= HASH_CHARACTERS && hash.toLowerCase().startsWith(sought)
}
