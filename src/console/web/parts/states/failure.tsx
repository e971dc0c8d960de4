/** What went wrong, in words, with its code and what to do about it. */

import { failureIn } from '../../away.ts'
import { helpFor, texts } from '../../texts/index.ts'

type Words = ReturnType<typeof helpFor>

export function FailureNote({ error }: { error: unknown }) {
  const failure = failureIn(error)
  const words: Words = failure ? helpFor(failure.code) : texts.errors.internal
  const { said = failure?.message, help } = words
  return (
    <div className="note note-danger" role="alert">
      <p>{said}</p>
      {help ? <p className="soft">{help}</p> : null}
      {failure ? (
        <p className="soft small">
          <code>{failure.code}</code>
          {failure.requestId ? <> · {failure.requestId}</> : null}
        </p>
      ) : null}
    </div>
  )
}
