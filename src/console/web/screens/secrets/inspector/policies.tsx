/** The policy of one secret in the inspector, and of several in a sheet. */
import { useMemo } from 'react'
import { type Cell, type PaneProps, type SecretsPlace, useGo, useMayHere } from '../place.ts'
import { PolicyEditor } from './policy/editor.tsx'
import { PolicyPreview } from './policy/preview.tsx'
import { WhoMayUse } from './who_may_use.tsx'

type Props = { place: SecretsPlace; name: string; cell: Cell }

export function PolicyTab({ place, name, cell }: Props) {
  const writes = useMayHere('secret.write')
  const secrets = useMemo(
    () => [{ key: name, version: cell.version, policy: cell.policy }],
    [name, cell],
  )
  const at = { ...place, key: name }
  if (!writes)
    return (
      <div className="flex flex-col gap-3 px-4 py-3">
        <WhoMayUse cell={cell} />
        <PolicyPreview place={at} policy={cell.policy ?? {}} />
      </div>
    )
  return (
    <div className="px-4 py-3">
      <PolicyEditor
        key={cell.version}
        place={place}
        secrets={secrets}
        isBulk={false}
        below={(policy) => <PolicyPreview place={at} policy={policy} />}
      />
    </div>
  )
}

export function Policies({
  place,
  matrix,
  keys,
  environment,
}: PaneProps & { environment: string }) {
  const go = useGo()
  const secrets = useMemo(
    () =>
      matrix.rows.flatMap(({ key, cells }) => {
        const cell = cells[environment]
        return cell && keys.includes(key)
          ? [{ key, version: cell.version, policy: cell.policy }]
          : []
      }),
    [matrix, keys, environment],
  )
  return (
    <PolicyEditor
      place={{ ...place, environment }}
      secrets={secrets}
      isBulk
      onDone={() => go({ pane: undefined })}
    />
  )
}
