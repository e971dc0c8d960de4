/** Two environments side by side. Which values differ was found in the worker; they are shown one by one. */
import { useMemo, useState } from 'react'
import { ask } from '../../keys/ask.ts'
import { Select } from '../../parts/fields/select.tsx'
import { EmptyState } from '../../parts/page/empty_state.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { SecretValue } from '../../parts/show/secret_value.tsx'
import { texts } from '../../texts/index.ts'
import type { Cell, MatrixRow, PaneProps } from './place.ts'

const words = texts.secrets

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
    <div className="stack">
      <div className="row">
        <Select label={words.environment} options={options} value={one} onChange={setOne} />
        <Select label={words.compareWith} options={options} value={other} onChange={setOther} />
      </div>
      {differing.length === 0 ? (
        <EmptyState title={words.sameAll} command={`cloakroom secrets diff ${one} ${other}`}>
          <p>{words.sameAllHelp}</p>
        </EmptyState>
      ) : null}
      <ul className="plain-list stack pane-list">
        {differing.map(({ key, cells, difference }) => (
          <li key={key}>
            <p>
              <code>{key}</code> <span className="soft">{difference}</span>
            </p>
            {[one, other].map((environment) =>
              cells[environment] ? (
                <Side key={environment} place={{ ...place, environment, key }} />
              ) : null,
            )}
          </li>
        ))}
      </ul>
    </div>
  )
}

/** Null where there is none. */
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
    ].join(', ') || null
  )
}

function isSamePolicy(one: Cell, other: Cell): boolean {
  return one.words === other.words && one.isSensitive === other.isSensitive
}

type SideProps = { place: PaneProps['place'] & { environment: string; key: string } }

function Side({ place }: SideProps) {
  const [failed, setFailed] = useState<unknown>(null)
  const { environment, key } = place
  return (
    <div>
      <span className="soft">{environment}</span>{' '}
      <SecretValue
        name={words.inEnvironment(key, environment)}
        read={() => ask('secrets.reveal', place)}
        onError={setFailed}
      />
      {failed ? <FailureNote error={failed} /> : null}
    </div>
  )
}
