/** One of few choices, each with a description. The narrowest comes first. */
import { Label, Radio, RadioGroup } from 'react-aria-components'
import { FIELD, FIELD_LABEL } from './field_class.ts'

type Props<Id extends string> = {
  label: string
  options: readonly { id: Id; title: string; help: string }[]
  value: Id
  onChange(id: Id): void
  /** For a field below a heading with the same text. */
  isLabelHidden?: boolean
  /** Beside one another where there is room. */
  isRow?: boolean
}

export function RadioCards<Id extends string>({
  label,
  options,
  value,
  onChange,
  isLabelHidden = false,
  isRow,
}: Props<Id>) {
  return (
    <RadioGroup
      className={FIELD}
      value={value}
      onChange={(id) => {
        const chosen = options.find((option) => option.id === id)
        if (chosen) onChange(chosen.id)
      }}
    >
      <Label className={isLabelHidden ? 'sr-only' : FIELD_LABEL}>{label}</Label>
      <div
        className={`flex gap-2 pt-1 ${isRow ? 'flex-wrap [&>*]:min-w-36 [&>*]:flex-1' : 'flex-col'}`}
      >
        {options.map(({ id, title, help }) => (
          <Radio
            key={id}
            value={id}
            className="group flex cursor-pointer gap-2.5 rounded-[8px] border border-line-2 px-3 py-2.5 hover:bg-hover selected:border-accent selected:ring-1 selected:ring-accent selected:ring-inset"
          >
            <i
              aria-hidden="true"
              className="mt-0.5 size-4 shrink-0 rounded-full border border-control group-selected:border-[5px] group-selected:border-accent"
            />
            <span className="min-w-0">
              <span className="block font-medium">{title}</span>
              <span className="block text-ink-2">{help}</span>
            </span>
          </Radio>
        ))}
      </div>
    </RadioGroup>
  )
}
