/** Chooses the last days, or days from a dialog. */
import { Calendar, ChevronDown } from 'lucide-react'
import { useState } from 'react'
import { Button as AriaButton } from 'react-aria-components'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { FieldForm } from '../../parts/form.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Dialog, DialogFooter } from '../../parts/overlays/dialog.tsx'
import { MenuAround } from '../../parts/overlays/menu.tsx'
import { texts } from '../../texts/index.ts'
import type { useFilters } from './filters.ts'
import { periodOf, periods, periodText, rangeOf, USUAL_PERIOD } from './period.ts'
import type { AuditFilters } from './search.ts'

const words = texts.audit

type Props = { filters: AuditFilters; onChange: ReturnType<typeof useFilters>['change'] }

export function PeriodMenu({ filters, onChange }: Props) {
  const [isOpen, setOpen] = useState(false)
  const chosen = periodOf(filters)
  const presets = periods.map((period) => ({
    id: period,
    label: words.periods[period],
    act: () =>
      onChange({
        period: period === USUAL_PERIOD ? undefined : period,
        since: undefined,
        until: undefined,
      }),
    isSelected: period === chosen,
  }))
  const custom = { label: words.custom, act: () => setOpen(true), isSelected: chosen === null }
  const text = periodText(filters)
  return (
    <>
      <MenuAround
        label={`${words.period}: ${text}`}
        choices={[...presets, { id: 'custom', ...custom }]}
        trigger={
          <AriaButton className="inline-flex h-7 shrink-0 items-center gap-1.5 rounded-full bg-surface-2 px-2.5 font-medium whitespace-nowrap hover:bg-hover phone:h-8">
            <Icon of={Calendar} size={13} />
            {text}
            <Icon of={ChevronDown} size={13} />
          </AriaButton>
        }
      />
      {isOpen ? (
        <Days
          filters={filters}
          onClose={() => setOpen(false)}
          onChosen={(since, until) => {
            setOpen(false)
            onChange({ since, until, period: undefined })
          }}
        />
      ) : null}
    </>
  )
}

type DaysProps = {
  filters: AuditFilters
  onClose(): void
  onChosen(since: string, until: string): void
}

function Days({ filters, onClose, onChosen }: DaysProps) {
  const [since, setSince] = useState(rangeOf(filters).since?.slice(0, 10) ?? '')
  const [until, setUntil] = useState(filters.until ?? new Date().toISOString().slice(0, 10))
  const isReversed = since !== '' && until !== '' && since > until
  const submit = () => (isReversed ? onChosen(until, since) : onChosen(since, until))
  return (
    <Dialog title={words.customTitle} isOpen onClose={onClose}>
      <FieldForm className="flex flex-col gap-4" onSubmit={submit}>
        <div className="grid grid-cols-2 gap-3">
          <TextField isRequired type="date" label={words.from} value={since} onChange={setSince} />
          <TextField isRequired type="date" label={words.to} value={until} onChange={setUntil} />
        </div>
        <DialogFooter>
          <Button onPress={onClose}>{texts.common.cancel}</Button>
          <Button kind="primary" type="submit">
            {words.show}
          </Button>
        </DialogFooter>
      </FieldForm>
    </Dialog>
  )
}
