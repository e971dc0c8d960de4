/** Stores several secrets at once, after their changes were shown by name. Secrets can be left out. */
import { useState } from 'react'
import { Button } from '../../../parts/button.tsx'
import { say } from '../../../parts/overlays/toasts.tsx'
import { FailureNote } from '../../../parts/page/failure.tsx'
import { SkeletonRows } from '../../../parts/page/skeleton.tsx'
import { useCommand } from '../../../queries.ts'
import { texts } from '../../../texts/index.ts'
import { CHANGED } from '../place.ts'
import { ChangeList, type ChangeRow } from './change_list.tsx'
import { type TransferOrder, usePreview } from './use_preview.ts'

const words = texts.secretSheets
const NONE: ReadonlySet<string> = new Set()

type Options = { verb(count: number): string; onDone(): void }

/** @returns what would change, and the button that stores it */
export function useTransfer(order: TransferOrder | null, { verb, onDone }: Options) {
  const { data, error, isPending, again } = usePreview(order)
  const [omitted, setOmitted] = useState({ order, keys: NONE })
  const store = useCommand('transfers.store', { changes: CHANGED })
  const undo = useCommand('transfers.undo', { changes: CHANGED })
  const left = omitted.order === order ? omitted.keys : NONE
  const changing = data?.problems.length === 0 ? data.rows.filter(isChange) : []
  const wanted = changing.filter(({ key }) => !left.has(key))
  // An error belongs to the source that was sent.
  const failed = store.variables?.source === order?.source ? store.error : null
  const act = () => {
    if (!order) return
    const versions = Object.fromEntries(wanted.map(({ key, version }) => [key, version]))
    store.mutate(
      { ...order, versions },
      {
        onSuccess: ({ created, updated, stored }) => {
          const { to } = order
          const act = async () =>
            words.undone(to.environment, await undo.mutateAsync({ to, stored: stored ?? [] }))
          const text = words.imported(created, updated, to.environment)
          say(text, stored ? { act, failed: words.notUndone } : undefined)
          onDone()
        },
        onError: again,
      },
    )
  }
  const list = (
    <>
      {error ? <FailureNote error={error} /> : null}
      {isPending ? <SkeletonRows count={4} /> : null}
      {data && data.problems.length === 0 ? (
        <ChangeList
          preview={data}
          rows={changing}
          left={left}
          onLeave={(keys) => setOmitted({ order, keys })}
        />
      ) : null}
      {failed ? <FailureNote error={failed} /> : null}
    </>
  )
  const button =
    data === null ? null : (
      <Button
        kind="primary"
        autoFocus
        isDisabled={wanted.length === 0}
        isPending={store.isPending}
        onPress={act}
      >
        {verb(wanted.length)}
      </Button>
    )
  return { list, button, problems: data?.problems ?? [], isPending }
}

function isChange(row: { change: string }): row is ChangeRow {
  return row.change !== 'same'
}
