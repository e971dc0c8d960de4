/** Edits the policy of a secret, or of several: the sentence, its effect on recent calls, and the exact change to sign. */
import { type ComponentProps, type ReactNode, useMemo, useState } from 'react'
import type { Policy } from '../../../../../../core/policy/policy.ts'
import { Button } from '../../../../parts/button.tsx'
import { say } from '../../../../parts/overlays/toasts.tsx'
import { markUnsaved } from '../../../../parts/overlays/unsaved.ts'
import { FailureNote } from '../../../../parts/page/failure.tsx'
import { DiffBlock } from '../../../../parts/show/diff_block.tsx'
import { useAsk, useCommand } from '../../../../queries.ts'
import { texts } from '../../../../texts/index.ts'
import { CHANGED, type SecretsPlace } from '../../place.ts'
import { changeOf, rowsOf } from './fields.ts'
import { Sentence } from './sentence.tsx'

const words = texts.policies

/** Changes of so many secrets are shown one by one. */
const MAX_SHOWN = 20

export type StoredPolicy = { key: string; version: number; policy: Policy | null }

type Props = {
  place: SecretsPlace
  secrets: readonly StoredPolicy[]
  isBulk: boolean
  /** Below the sentence, for the policy as it is edited. */
  below?(policy: Policy): ReactNode
  onDone?: (() => void) | undefined
}

export function PolicyEditor({ place, secrets, isBulk, below, onDone }: Props) {
  const before = useMemo(() => secrets[0]?.policy ?? {}, [secrets])
  const [policy, setPolicy] = useState<Policy>(before)
  const { data } = useAsk('workspaces.list', null)
  const isSigned = data?.find(({ id }) => id === place.workspaceId)?.isSigned ?? false
  const rows = useMemo(
    () =>
      secrets.slice(0, MAX_SHOWN).flatMap((secret) => {
        const changes = rowsOf(secret.policy ?? {}, policy, isBulk)
        return isBulk && changes.length > 0 ? [{ text: secret.key }, ...changes] : changes
      }),
    [secrets, policy, isBulk],
  )
  const isChanged = rows.length > 0 || secrets.length > MAX_SHOWN
  return (
    <div className="flex flex-col gap-3" {...markUnsaved(isChanged && policy !== before)}>
      <Sentence
        policy={policy}
        onChange={setPolicy}
        workspaceId={place.workspaceId}
        isBulk={isBulk}
        isSigned={isSigned}
      />
      {below?.(policy)}
      {isBulk && !isChanged ? <p className="text-ink-2">{words.unchanged}</p> : null}
      {isChanged ? (
        <Change
          {...{ place, secrets, rows }}
          change={changeOf(before, policy, isBulk)}
          verb={isSigned ? words.sign : words.save}
          onDiscard={() => setPolicy(before)}
          onDone={onDone}
        />
      ) : null}
    </div>
  )
}

type ChangeProps = Pick<Props, 'place' | 'secrets' | 'onDone'> & {
  rows: ComponentProps<typeof DiffBlock>['rows']
  change: ReturnType<typeof changeOf>
  verb: string
  onDiscard(): void
}

function Change({ place, secrets, rows, change, verb, onDiscard, onDone }: ChangeProps) {
  const store = useCommand('policies.set', { changes: CHANGED })
  const versions = Object.fromEntries(secrets.map(({ key, version }) => [key, version]))
  const save = () =>
    store.mutate(
      { ...place, change, versions },
      {
        onSuccess: () => {
          say(words.saved(secrets.length))
          onDone?.()
        },
      },
    )
  return (
    <div className="sticky bottom-0 -mx-4 flex flex-col gap-2 border-t border-line bg-surface px-4 py-3">
      <h3 className="text-small font-medium text-ink-3">{words.changes}</h3>
      {secrets.length > 1 ? <p className="text-ink-2">{words.replaces(secrets.length)}</p> : null}
      {rows.length > 0 ? (
        <section
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also with the keyboard
          tabIndex={0}
          aria-label={words.changes}
          className="max-h-46 overflow-auto"
        >
          <DiffBlock rows={rows} />
        </section>
      ) : null}
      {store.error ? <FailureNote error={store.error} /> : null}
      <div className="flex gap-2 pt-1">
        <Button kind="primary" isPending={store.isPending} onPress={save}>
          {verb}
        </Button>
        <Button kind="ghost" onPress={onDiscard}>
          {words.discard}
        </Button>
      </div>
    </div>
  )
}
