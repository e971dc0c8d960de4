/** What many secrets at once would change, by name and before it is done; what is not wanted is left out. */
import { useState } from 'react'
import type { Input, Returned } from '../../../keys/messages.ts'
import { Button } from '../../../parts/button.tsx'
import { Checkbox } from '../../../parts/fields/checkbox.tsx'
import { say } from '../../../parts/overlays/toasts.tsx'
import { FailureNote } from '../../../parts/page/failure.tsx'
import { DataTable, type TableColumn } from '../../../parts/table.tsx'
import { useCommand } from '../../../queries.ts'
import { texts } from '../../../texts/index.ts'
import { CHANGED } from '../place.ts'

const words = texts.secrets

type Asked = Input<'transfers.preview'>
type Row = Returned<'transfers.preview'>['rows'][number]
type Props = Asked & { isEmpty: boolean; onDone(): void }

export function Transfer({ to, source, isEmpty, onDone }: Props) {
  const preview = useCommand('transfers.preview')
  const { data, variables } = preview
  const isOfThis = JSON.stringify(variables) === JSON.stringify({ to, source })
  return (
    <div className="stack">
      <div>
        <Button
          isDisabled={isEmpty}
          isPending={preview.isPending}
          onPress={() => preview.mutate({ to, source })}
        >
          {words.preview}
        </Button>
      </div>
      {preview.error ? <FailureNote error={preview.error} /> : null}
      {data && isOfThis ? (
        <Previewed key={preview.submittedAt} {...{ to, source, onDone }} {...data} />
      ) : null}
    </div>
  )
}

function Previewed({
  to,
  source,
  onDone,
  problems,
  repeated,
  rows,
}: Asked & Returned<'transfers.preview'> & { onDone(): void }) {
  const changing = rows.filter(({ change }) => change !== 'same')
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const store = useCommand('transfers.store', { changes: CHANGED })
  const wanted = changing.filter(({ key }) => !left.has(key))
  const toggle = (key: string) => {
    const next = new Set(left)
    if (!next.delete(key)) next.add(key)
    setLeft(next)
  }
  const act = () => {
    const versions = Object.fromEntries(wanted.map(({ key, version }) => [key, version]))
    store.mutate(
      { to, source, versions },
      {
        onSuccess: ({ created, updated }) => {
          say(words.stored(created, updated, to.environment))
          onDone()
        },
      },
    )
  }
  if (problems.length > 0) return <Problems problems={problems} />
  return (
    <>
      {repeated.length > 0 ? <p className="note">{words.repeated(repeated)}</p> : null}
      <DataTable
        label={words.changeList}
        columns={columnsOf(left, toggle)}
        rows={rows}
        idOf={({ key }) => key}
      />
      {store.error ? <FailureNote error={store.error} /> : null}
      <div>
        <Button
          kind="primary"
          isDisabled={wanted.length === 0}
          isPending={store.isPending}
          onPress={act}
        >
          {words.store(wanted.length)}
        </Button>
      </div>
    </>
  )
}

function columnsOf(left: ReadonlySet<string>, toggle: (key: string) => void): TableColumn<Row>[] {
  return [
    {
      id: 'key',
      header: words.name,
      isRowHeader: true,
      cell: ({ key, change }) =>
        change === 'same' ? (
          <code>{key}</code>
        ) : (
          <Checkbox name={words.take(key)} isSelected={!left.has(key)} onChange={() => toggle(key)}>
            <code>{key}</code>
          </Checkbox>
        ),
    },
    {
      id: 'change',
      header: words.change,
      cell: ({ change, isSetting }) => (
        <span className={change === 'same' ? 'soft' : ''}>
          {words.changes[change]}
          {isSetting && change === 'new' ? `, ${words.setting}` : ''}
        </span>
      ),
    },
  ]
}

function Problems({ problems }: { problems: Returned<'transfers.preview'>['problems'] }) {
  return (
    <div className="note note-danger" role="alert">
      <ul>
        {problems.map(({ line, reason }) => (
          <li key={line}>{words.line(line, reason)}</li>
        ))}
      </ul>
      <p>{words.nothingStored}</p>
    </div>
  )
}
