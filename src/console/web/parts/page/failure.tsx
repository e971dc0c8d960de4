/** A failure and its fix. The error's own message, its code and the request ID are under "Details". */
import { CircleAlert } from 'lucide-react'
import { failureIn } from '../../availability.ts'
import { helpFor, texts } from '../../texts/index.ts'
import { Icon } from '../icon.tsx'
import { Facts } from './facts.tsx'
import { Proof } from './proof.tsx'

type Words = ReturnType<typeof helpFor>

/** Above the content of a screen, or in its place. */
export function ScreenFailure({ error }: { error: unknown }) {
  return (
    <div className="shrink-0 px-5 py-3 phone:px-4">
      <FailureNote error={error} />
    </div>
  )
}

export function FailureNote({ error }: { error: unknown }) {
  const failure = failureIn(error)
  const words: Words = failure ? helpFor(failure.code) : texts.errors.internal
  const { said = failure?.message, help } = words
  const isReplaced = Boolean(failure?.message) && said !== failure?.message
  const ids = texts.parts
  return (
    <div role="alert" className="flex gap-2 rounded-control bg-red-soft px-3 py-2 text-red">
      <span className="flex h-5 items-center">
        <Icon of={CircleAlert} />
      </span>
      <div className="flex min-w-0 flex-1 flex-col gap-1">
        <p className="font-medium wrap-anywhere">{said}</p>
        {help ? <p className="text-ink-2">{help}</p> : null}
        {failure ? (
          <Proof>
            <Facts
              rows={[
                ...(isReplaced ? [[ids.message, failure?.message] as const] : []),
                [ids.code, <code key="code">{failure.code}</code>],
                ...(failure.requestId ? [[ids.requestId, failure.requestId] as const] : []),
              ]}
            />
          </Proof>
        ) : null}
      </div>
    </div>
  )
}
