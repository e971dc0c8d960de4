/** The selected secrets from one environment to another: opened and sealed anew in the worker. */
import { useState } from 'react'
import { Select } from '../../../parts/fields/select.tsx'
import { texts } from '../../../texts/index.ts'
import { type PaneProps, useGo } from '../place.ts'
import { Transfer } from './transfer.tsx'

const words = texts.secrets

export function Copying({ place, matrix, keys, environment }: PaneProps & { environment: string }) {
  const go = useGo()
  const others = matrix.environments.filter((name) => name !== environment)
  const [to, setTo] = useState<string | null>(null)
  const chosen = others.find((name) => name === to) ?? null
  return (
    <div className="stack">
      <Select
        label={words.copyTarget}
        options={others.map((id) => ({ id, label: id }))}
        value={chosen}
        onChange={setTo}
      />
      {chosen === null ? null : (
        <Transfer
          key={chosen}
          to={{ ...place, environment: chosen }}
          source={{ from: { ...place, environment }, keys }}
          isEmpty={keys.length === 0}
          onDone={() => go({ pane: undefined })}
        />
      )}
    </div>
  )
}
