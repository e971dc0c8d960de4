/** The value, its last change and last use, and what may use it. */
import { useDeferredValue, useState } from 'react'
import { ask } from '../../../keys/ask.ts'
import { Button } from '../../../parts/button.tsx'
import { Facts } from '../../../parts/page/facts.tsx'
import { FailureNote } from '../../../parts/page/failure.tsx'
import { InspectorSection } from '../../../parts/page/section.tsx'
import { Ago } from '../../../parts/show/ago.tsx'
import { SecretValue } from '../../../parts/show/secret_value.tsx'
import { Sparkline } from '../../../parts/show/sparkline.tsx'
import { useAsk } from '../../../queries.ts'
import { texts } from '../../../texts/index.ts'
import { takeCarried } from '../carried.ts'
import { type Cell, type MatrixRow, type SecretsPlace, useGo, useMayHere } from '../place.ts'
import { RenewalBlock } from './renewal.tsx'
import { sum, useNameOf, useSecretUse } from './use.ts'
import { ValueForm } from './value_form.tsx'
import { WhoMayUse } from './who_may_use.tsx'

const words = texts.inspector
const DAYS = 7

type Props = { place: SecretsPlace; name: string; cell: Cell; row: MatrixRow }

export function ValueTab(props: Props) {
  const { cell } = props
  // The value is painted first, the rest a frame later.
  const isPainted = useDeferredValue(true, false)
  return (
    <>
      <Shown {...props} />
      {cell.renewal ? <RenewalBlock renewal={cell.renewal} /> : null}
      {isPainted ? <Background {...props} /> : null}
    </>
  )
}

function Background(props: Props) {
  return (
    <>
      <section className="border-t border-line px-4 py-3">
        <History {...props} />
      </section>
      <InspectorSection title={texts.policies.whoTitle}>
        <WhoMayUse cell={props.cell} />
      </InspectorSection>
      <LastDays {...props} />
    </>
  )
}

function Shown({ place, name, cell }: Props) {
  const go = useGo()
  const writes = useMayHere('secret.write')
  const [failed, setFailed] = useState<unknown>(null)
  const [carried] = useState(() => takeCarried(name, place.environment))
  const [isReplacing, setReplacing] = useState(carried.text !== '')
  return (
    <div className="flex flex-col gap-2 px-4 pt-3 pb-3">
      {cell.value === null ? <p className="text-red">{words.unreadable}</p> : null}
      <SecretValue
        name={name}
        read={() => ask('secrets.reveal', { ...place, key: name })}
        onError={setFailed}
      />
      {failed ? <FailureNote error={failed} /> : null}
      {writes && isReplacing ? (
        <ValueForm {...{ place, name, cell, carried }} onDone={() => setReplacing(false)} />
      ) : null}
      {writes && !isReplacing ? (
        <div className="flex gap-2">
          <Button size="small" onPress={() => setReplacing(true)}>
            {words.replace}
          </Button>
          <Button size="small" kind="ghost" onPress={() => go({ pane: 'copy-one' })}>
            {words.copyTo}
          </Button>
        </div>
      ) : null}
    </div>
  )
}

function History({ place, name, cell, row }: Props) {
  const at = { ...place, key: name }
  const { data } = useAsk('versions.list', at)
  const nameOf = useNameOf(place.workspaceId)
  const by = data?.find(({ version }) => version === cell.version)?.by
  const same = Object.entries(row.cells).flatMap(([environment, other]) =>
    environment !== place.environment && cell.value !== null && other.value === cell.value
      ? [environment]
      : [],
  )
  const use = useSecretUse(at)
  return (
    <Facts
      rows={[
        [
          words.changed,
          <>
            <Ago at={cell.updatedAt} />
            {by ? ` ${words.by} ${nameOf(by)}` : ''}
            {` · ${words.version(cell.version)}`}
          </>,
        ],
        [words.sameAs, same.length > 0 ? texts.policies.listed(same) : words.nowhere],
        [words.lastUsed, <LastUsed key="used" use={use} />],
        ...(cell.isSensitive ? [] : [[words.sensitive, words.notMasked] as const]),
      ]}
    />
  )
}

function LastUsed({ use }: { use: ReturnType<typeof useSecretUse> }) {
  if (use === undefined) return null
  if (use.lastAt === null) return words.unused
  return (
    <>
      <Ago at={use.lastAt} />
      {use.lastBy ? (
        <>
          {` ${words.by} `}
          <strong className="font-medium">{use.lastBy}</strong>
        </>
      ) : null}
    </>
  )
}

function LastDays({ place, name }: Props) {
  const use = useSecretUse({ ...place, key: name })
  const calls = use?.calls.slice(-DAYS) ?? []
  const refused = sum(use?.refused.slice(-DAYS) ?? [])
  return (
    <InspectorSection title={words.lastDays}>
      {use ? (
        <>
          <Sparkline values={calls} label={words.bars(sum(calls), refused)} size="panel" />
          <p className="mt-1 flex justify-between text-small text-ink-2 tabular-nums">
            <span>{words.calls(sum(calls))}</span>
            <span>{words.refused(refused)}</span>
          </p>
        </>
      ) : (
        <div className="h-16" />
      )}
    </InspectorSection>
  )
}
