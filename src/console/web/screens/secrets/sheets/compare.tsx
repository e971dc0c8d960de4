/** Two environments side by side. The worker finds which values differ; they are shown one by one. */
import { useMemo, useState } from 'react'
import { ask } from '../../../keys/ask.ts'
import { Select } from '../../../parts/fields/select.tsx'
import { EmptyState } from '../../../parts/page/empty_state.tsx'
import { FailureNote } from '../../../parts/page/failure.tsx'
import { EnvironmentLabel } from '../../../parts/show/environment_label.tsx'
import { SecretValue } from '../../../parts/show/secret_value.tsx'
import { texts } from '../../../texts/index.ts'
import type { Cell, MatrixRow, PaneProps, SecretsPlace } from '../place.ts'
import { Pane } from './pane.tsx'

const words = texts.secretSheets

export function Compare({ place, matrix }: PaneProps) {
  const { environments, rows } = matrix
  const options = environments.map((id) => ({ id, label: id }))
  const [one = '', setOne] = useState(environments[0])
  const [other = '', setOther] = useState(environments.at(-1))
  const differing = useMemo(
    () =>
      rows.flatMap((row) => {
        const difference = differenceOf(row, one, other)
        return difference === null ? [] : [{ key: row.key, cells: row.cells, difference }]
      }),
    [rows, one, other],
  )
  return (
    <Pane title={words.compareTitle} width={560}>
      <div className="grid grid-cols-2 gap-3">
        <Select label={words.compareOne} options={options} value={one} onChange={setOne} />
        <Select label={words.compareOther} options={options} value={other} onChange={setOther} />
      </div>
      {differing.length === 0 ? (
        <EmptyState title={words.noDifference} command={`cloakroom secrets diff ${one} ${other}`} />
      ) : (
        <p role="status" className="text-small font-medium text-ink-3">
          {words.differences(differing.length)}
        </p>
      )}
      <ul className="flex flex-col">
        {differing.map(({ key, cells, difference }) => (
          <li
            key={key}
            className="flex flex-col gap-2 border-t border-line py-3 [content-visibility:auto]"
          >
            <p className="flex items-baseline justify-between gap-3">
              <span className="truncate font-mono text-mono" title={key}>
                {key}
              </span>
              <span className="shrink-0 text-small text-ink-3">{difference}</span>
            </p>
            <div className="grid grid-cols-2 gap-3 phone:grid-cols-1">
              {[one, other].map((environment) =>
                cells[environment] ? (
                  <Side key={environment} place={{ ...place, environment, key }} />
                ) : null,
              )}
            </div>
          </li>
        ))}
      </ul>
    </Pane>
  )
}

/** Null if nothing differs. */
function differenceOf({ cells }: MatrixRow, one: string, other: string): string | null {
  const [before, after] = [cells[one], cells[other]]
  if (!before || !after) {
    if (!before && !after) return null
    return words.onlyIn(before ? one : other)
  }
  return (
    [
      ...(before.value === after.value && before.value !== null ? [] : [words.otherValue]),
      ...(isSamePolicy(before, after) ? [] : [words.otherPolicy]),
    ].join(' · ') || null
  )
}

function isSamePolicy(one: Cell, other: Cell): boolean {
  return one.words === other.words && one.isSensitive === other.isSensitive
}

function Side({ place }: { place: SecretsPlace & { key: string } }) {
  const [failed, setFailed] = useState<unknown>(null)
  const { environment, key } = place
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <EnvironmentLabel name={environment} />
      <SecretValue
        name={texts.matrix.cell(key, environment)}
        read={() => ask('secrets.reveal', place)}
        onError={setFailed}
      />
      {failed ? <FailureNote error={failed} /> : null}
    </div>
  )
}
