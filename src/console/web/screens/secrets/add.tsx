/** A new secret. */
import { useState } from 'react'
import { SECRET_NAME } from '../../../../core/names/secret_name.ts'
import { Select } from '../../parts/fields/select.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { texts } from '../../texts/index.ts'
import { Value } from './inspector/value.tsx'
import { type PaneProps, useGo } from './place.ts'

const words = texts.secrets

const NAME = new RegExp(`^${SECRET_NAME}$`)

export function NewSecret({ place, matrix, environment }: PaneProps & { environment: string }) {
  const [name, setName] = useState('')
  const go = useGo()
  const isBad = name !== '' && !NAME.test(name)
  const cell = matrix.rows.find(({ key }) => key === name)?.cells[environment]
  return (
    <div className="stack">
      <TextField
        label={words.name}
        help={words.nameHelp}
        mono
        autoComplete="off"
        value={name}
        onChange={setName}
        error={isBad ? words.badName : undefined}
      />
      <Select
        label={words.environment}
        options={matrix.environments.map((id) => ({ id, label: id }))}
        value={environment}
        onChange={(chosen) => go({ environment: chosen }, true)}
      />
      {name === '' || isBad ? null : (
        <Value place={place} name={name} environment={environment} cell={cell} />
      )}
    </div>
  )
}
