/** The scope of a signature: this call alone, or later calls for as long as the secrets' policies permit. */
import { callMethods } from '../../../../core/policy/policy.ts'
import { Choices } from '../../parts/fields/checkbox.tsx'
import { RadioCards } from '../../parts/fields/radio_cards.tsx'
import { Select } from '../../parts/fields/select.tsx'
import { InspectorSection } from '../../parts/page/section.tsx'
import { texts } from '../../texts/index.ts'
import type { WaitingRequest } from '../../waiting.ts'

const words = texts.waiting

/** Seconds. */
const LENGTHS = [300, 900, 3_600, 28_800, 86_400]

/** A window, or null for this call alone. */
export type Extent = { methods: readonly string[]; prefix: string; seconds: number } | null

/** The narrowest that a request permits. */
export function chooseFirstExtent(request: WaitingRequest): Extent {
  return request.isSingle ? null : narrowestWindow(request)
}

function narrowestWindow({ method, prefixes, mostSeconds }: WaitingRequest): Extent {
  const [prefix] = prefixes
  if (prefix === undefined || mostSeconds <= 0) return null
  const seconds = Math.min(mostSeconds, LENGTHS[0] ?? mostSeconds)
  return { methods: [method], prefix, seconds }
}

type Props = { request: WaitingRequest; value: Extent; onChange(extent: Extent): void }

export function HowFar({ request, value, onChange }: Props) {
  const { isSingle, origin } = request
  const window = value ?? narrowestWindow(request)
  const length = words.length(window?.seconds ?? 0)
  const once = { id: 'once', title: words.once, help: words.onceHelp } as const
  const later = {
    id: 'window',
    title: words.forTime(length),
    help: words.window(window?.methods ?? [], `${origin}${window?.prefix ?? ''}`),
  } as const
  const options = [...(isSingle ? [once] : []), ...(window ? [later] : [])]
  if (options.length === 0) return null
  return (
    <InspectorSection title={words.howFar}>
      <RadioCards
        label={words.howFar}
        isLabelHidden
        options={options}
        value={value === null ? 'once' : 'window'}
        onChange={(id) => onChange(id === 'once' ? null : narrowestWindow(request))}
      />
      {value ? <WindowFields request={request} value={value} onChange={onChange} /> : null}
    </InspectorSection>
  )
}

type FieldsProps = Props & { value: NonNullable<Extent> }

/** The method of the call itself is always allowed. */
function WindowFields({ request, value, onChange }: FieldsProps) {
  const { method, prefixes, mostSeconds } = request
  const lengths = [...new Set([...LENGTHS.filter((each) => each < mostSeconds), mostSeconds])]
  const others = callMethods.filter((other) => other !== method)
  return (
    <div className="mt-3 grid grid-cols-2 gap-3">
      <Select
        label={words.prefix}
        options={prefixes.map((id) => ({ id, label: id }))}
        value={value.prefix}
        onChange={(prefix) => onChange({ ...value, prefix })}
      />
      <Select
        label={words.seconds}
        options={lengths.map((each) => ({ id: String(each), label: words.length(each) }))}
        value={String(value.seconds)}
        onChange={(seconds) => onChange({ ...value, seconds: Number(seconds) })}
      />
      <div className="col-span-2">
        <Choices
          label={words.otherMethods}
          options={others.map((id) => ({ id, label: id }))}
          value={value.methods.filter((chosen) => chosen !== method)}
          onChange={(chosen) => {
            const methods = callMethods.filter((each) => each === method || chosen.includes(each))
            onChange({ ...value, methods })
          }}
        />
      </div>
    </div>
  )
}
