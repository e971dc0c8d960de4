/** Copies the selected secrets from one environment to another. */
import { useMemo, useState } from 'react'
import { Select } from '../../../parts/fields/select.tsx'
import { texts } from '../../../texts/index.ts'
import { type PaneProps, useEnvironment, useGo } from '../place.ts'
import type { TransferOrder } from '../transfers/use_preview.ts'
import { useTransfer } from '../transfers/use_transfer.tsx'
import { EnvironmentSelect } from './environment_select.tsx'
import { Pane } from './pane.tsx'

const words = texts.secretSheets

export function Copying({ place, matrix, keys, clear }: PaneProps & { clear(): void }) {
  const go = useGo()
  const environment = useEnvironment(matrix)
  const others = matrix.environments.filter((name) => name !== environment)
  const [to, setTo] = useState<string | null>(null)
  const chosen = others.find((name) => name === to) ?? null
  const order = useMemo((): TransferOrder | null => {
    if (chosen === null) return null
    const source = { from: { ...place, environment }, keys }
    return { to: { ...place, environment: chosen }, source }
  }, [place, environment, chosen, keys])
  const done = () => {
    clear()
    go({ pane: undefined })
  }
  const { list, button } = useTransfer(order, { verb: words.copy, onDone: done })
  return (
    <Pane title={words.copyTitle(keys.length)} footer={button}>
      <EnvironmentSelect matrix={matrix} label={words.from} />
      <Select
        label={words.to}
        options={others.map((id) => ({ id, label: id }))}
        value={chosen}
        onChange={setTo}
      />
      {list}
    </Pane>
  )
}
