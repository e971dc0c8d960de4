/** A secret in one environment, as a row on a phone. */
import { ChevronRight } from 'lucide-react'
import { Icon } from '../../parts/icon.tsx'
import { Ago } from '../../parts/show/ago.tsx'
import { texts } from '../../texts/index.ts'
import { environmentWithSame, Masked, MissingTag } from './cell.tsx'
import type { MatrixRow } from './place.ts'

const words = texts.matrix

type Props = {
  row: MatrixRow
  environment: string
  environments: readonly string[]
  canAdd: boolean
}

export function SecretPhoneRow({ row, environment, environments, canAdd }: Props) {
  const cell = row.cells[environment]
  const same = environmentWithSame(row, environment, environments)
  return (
    <div className="flex min-w-0 items-center gap-2.5">
      <div className="min-w-0 flex-1">
        <div className="truncate font-mono text-mono">{row.key}</div>
        {cell ? (
          <div className="truncate text-small text-ink-3">
            {same === undefined ? (
              <>
                {words.version(cell.version)} · <Ago at={cell.updatedAt} />
              </>
            ) : (
              words.sameOnPhone(same)
            )}
          </div>
        ) : null}
      </div>
      {cell ? cell.value === null ? <Unreadable /> : <Masked /> : <MissingTag canAdd={canAdd} />}
      <span className="text-ink-3">
        <Icon of={ChevronRight} size={16} />
      </span>
    </div>
  )
}

function Unreadable() {
  return <span className="text-small text-red">{words.unreadable}</span>
}
