/** What of the audit is shown. It is in the address, so that a link shows the same to a colleague. */
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { FieldForm } from '../../parts/form.tsx'
import { texts } from '../../texts/index.ts'
import type { AuditFilters } from './records.ts'

const words = texts.audit
const fields = [
  ...(['actor', 'domain', 'credential', 'environment', 'action', 'since', 'until'] as const),
]

export function FilterBar({ filters }: { filters: AuditFilters }) {
  const [typed, setTyped] = useState(filters)
  const navigate = useNavigate()
  const show = (search: AuditFilters) =>
    void navigate({ from: '/w/$workspaceId/audit', to: '/w/$workspaceId/audit', search })
  const submit = () => {
    show(typed)
  }
  return (
    <FieldForm className="row" onSubmit={submit}>
      {fields.map((name) => (
        <TextField
          key={name}
          label={words.fields[name]}
          type={name === 'since' || name === 'until' ? 'date' : 'text'}
          autoComplete="off"
          value={typed[name] ?? ''}
          onChange={(text) => {
            const { [name]: _, ...others } = typed
            setTyped(text === '' ? others : { ...others, [name]: text })
          }}
        />
      ))}
      <Button type="submit">{words.filter}</Button>
      <Button kind="quiet" onPress={() => show({})}>
        {words.clear}
      </Button>
    </FieldForm>
  )
}
