/** What the members of a workspace have signed, newest first, and whether it holds. */
import { getRouteApi } from '@tanstack/react-router'
import { useDeferredValue, useMemo, useState } from 'react'
import { ask } from '../../keys/ask.ts'
import type { Returned } from '../../keys/messages.ts'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { Banner } from '../../parts/page/banner.tsx'
import { EmptyState } from '../../parts/page/empty_state.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Loading } from '../../parts/page/loading.tsx'
import { ProgressMeter } from '../../parts/page/progress.tsx'
import { CopyButton } from '../../parts/show/copy.tsx'
import { DataTable, type TableColumn } from '../../parts/table.tsx'
import { useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'

/** Fewer would be found in words. */
const HASH_LETTERS = 6
const route = getRouteApi('/w/$workspaceId/history')
const words = texts.history

type Read = NonNullable<Returned<'history.read'>>
type Told = Read['links'][number]
const moments = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

const columns: readonly TableColumn<Told>[] = [
  { id: 'seq', header: words.number, cell: ({ seq }) => seq, sortBy: ({ seq }) => seq },
  { id: 'at', header: words.when, isShort: true, cell: ({ at }) => moments.format(new Date(at)) },
  { id: 'by', header: words.who, cell: ({ by }) => by, sortBy: ({ by }) => by },
  { id: 'what', header: words.change, isRowHeader: true, cell: ({ what }) => what },
  {
    id: 'hash',
    header: words.hash,
    cell: ({ hash }) => <code title={hash}>{hash.slice(0, 12)}</code>,
  },
]

export function History() {
  const { workspaceId } = route.useParams()
  const { data, error } = useAsk('history.read', { workspaceId })
  if (error) {
    return (
      <section className="stack">
        <h1>{words.title}</h1>
        <FailureNote error={error} />
      </section>
    )
  }
  if (data === undefined) return <Loading />
  return (
    <section className="stack">
      <h1>{words.title}</h1>
      <p className="soft">{words.what}</p>
      {data === null ? (
        <EmptyState title={words.notSigned}>
          <p>{words.notSignedHelp}</p>
        </EmptyState>
      ) : (
        <Signed workspaceId={workspaceId} read={data} />
      )}
    </section>
  )
}

function Signed({ workspaceId, read }: { workspaceId: string; read: Read }) {
  const { fault, first, links } = read
  return (
    <>
      {fault ? (
        <Banner kind="danger">
          <p>{words.broken}</p>
          <p>{fault}</p>
          <p>{words.brokenHelp}</p>
        </Banner>
      ) : (
        <Banner kind="good">{words.verified(links.length)}</Banner>
      )}
      {first ? (
        <p>
          {words.first}: <CopyButton text={first} name={texts.members.fingerprint} />
        </p>
      ) : null}
      {fault ? null : <Verify workspaceId={workspaceId} />}
      <Links links={links} />
    </>
  )
}

function Links({ links }: Pick<Read, 'links'>) {
  const [find, setFind] = useState('')
  const sought = useDeferredValue(find).trim().toLowerCase()
  const rows = useMemo(
    () => links.filter((link) => isFound(link, sought)).toReversed(),
    [links, sought],
  )
  return (
    <>
      <TextField label={words.find} help={words.findHelp} value={find} onChange={setFind} />
      <p className="soft" role="status">
        {words.shown(rows.length, links.length)}
      </p>
      <DataTable
        label={words.links}
        columns={columns}
        rows={rows}
        idOf={({ seq }) => String(seq)}
        empty={<p>{words.nothingFound}</p>}
        isCards
      />
    </>
  )
}

/** By what it says, who signed it, its number, or the beginning of its hash in either spelling. */
function isFound({ seq, by, what, hash }: Told, sought: string): boolean {
  if (String(seq) === sought) return true
  if (`${by} ${what}`.toLowerCase().includes(sought)) return true
  return sought.length >= HASH_LETTERS && hash.toLowerCase().startsWith(sought)
}

type Verified = Returned<'history.verify'>

function Verify({ workspaceId }: { workspaceId: string }) {
  const [state, setState] = useState<{ result?: Verified; error?: unknown; isRunning: boolean }>({
    isRunning: false,
  })
  const verify = async () => {
    setState({ isRunning: true })
    try {
      setState({ result: await ask('history.verify', { workspaceId }), isRunning: false })
    } catch (error) {
      setState({ error, isRunning: false })
    }
  }
  return (
    <>
      <div>
        <Button isPending={state.isRunning} onPress={verify}>
          {words.verify}
        </Button>
      </div>
      {state.isRunning ? <ProgressMeter label={words.verifying} /> : null}
      {state.error ? <FailureNote error={state.error} /> : null}
      {state.result ? <Result {...state.result} /> : null}
    </>
  )
}

function Result({ members, environments, tokens, faults }: Verified) {
  const found = [
    ...faults,
    ...environments.flatMap(({ project, environment, fault }) =>
      fault ? [words.environmentFault(`${project}/${environment}`, fault)] : [],
    ),
    ...(tokens ?? []).flatMap(({ label, verdict, why }) =>
      verdict === 'refused' ? [words.tokenFault(label, why ?? '')] : [],
    ),
  ]
  if (found.length === 0) {
    return <p role="status">{words.all(members, environments.length, tokens?.length ?? null)}</p>
  }
  return (
    <Banner kind="danger">
      <p>{words.faults}</p>
      <ul>
        {found.map((fault) => (
          <li key={fault}>{fault}</li>
        ))}
      </ul>
    </Banner>
  )
}
