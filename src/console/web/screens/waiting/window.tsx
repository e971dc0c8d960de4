/** Allowing later calls, too: the narrowest window first, and no longer than the policies of the secrets permit. */
import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { Select } from '../../parts/fields/select.tsx'
import { Banner } from '../../parts/page/banner.tsx'
import { texts } from '../../texts/index.ts'
import { useHold } from '../live/hold.ts'
import type { Request } from './waiting.ts'

const words = texts.waiting

const LENGTHS = [300, 900, 3_600, 28_800, 86_400]

type Window = { prefix: string; seconds: number }

type Props = {
  request: Request
  isPending: boolean
  onAllow(window: Window): void
  onClose(): void
}

/** Whether the policies and the path of a request permit a window. */
export function canHaveWindow({ mostSeconds, prefixes }: Request): boolean {
  return mostSeconds > 0 && prefixes.length > 0
}

export function WindowChoice({ request, isPending, onAllow, onClose }: Props) {
  useHold(true)
  const { prefixes, mostSeconds, method, origin } = request
  const lengths = [...new Set([...LENGTHS.filter((each) => each < mostSeconds), mostSeconds])]
  const [prefix, setPrefix] = useState(prefixes[0] ?? '')
  const [seconds, setSeconds] = useState(String(lengths[0]))
  const length = words.length(Number(seconds))
  return (
    <Banner kind="warning">
      <div className="stack-tight">
        <Select
          label={words.prefix}
          options={prefixes.map((id) => ({ id, label: id }))}
          value={prefix}
          onChange={setPrefix}
        />
        <Select
          label={words.seconds}
          options={lengths.map((each) => ({ id: String(each), label: words.length(each) }))}
          value={seconds}
          onChange={setSeconds}
        />
        <p>{words.window(method, `${origin}${prefix}`, length)}</p>
        <div className="row">
          <Button
            kind="primary"
            isPending={isPending}
            onPress={() => onAllow({ prefix, seconds: Number(seconds) })}
          >
            {words.sign(length)}
          </Button>
          <Button onPress={onClose}>{texts.common.cancel}</Button>
        </div>
      </div>
    </Banner>
  )
}
