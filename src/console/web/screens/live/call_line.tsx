/** A call in one line: its address and its result. */
import { UrlText } from '../../parts/show/url.tsx'
import { CallResultCell } from './calls.tsx'
import type { LiveCall } from './stream.ts'
import { callHostOf, callPathOf, whyOf } from './words.ts'

export function CallLine({ call }: { call: LiveCall }) {
  const why = whyOf(call)
  return (
    <>
      <div className="flex items-center gap-2">
        <span className="min-w-0 flex-1">
          <UrlText method={call.method ?? ''} host={callHostOf(call)} path={callPathOf(call)} />
        </span>
        <CallResultCell call={call} />
      </div>
      {why ? <p>{why}</p> : null}
    </>
  )
}
