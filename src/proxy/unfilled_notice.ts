/** Has the person at the terminal see which placeholders of a program went out as text, each once. */
import { describeUnfilled, readUnfilled, UNFILLED_HEADER } from '../core/policy/unfilled.ts'
import type { Backend, ProxyNotice } from './backend.ts'

export function withUnfilledNotices(backend: Backend, notice: ProxyNotice): Backend {
  const noticed = new Set<string>()
  return {
    ...backend,
    execute: async (inbound) => {
      const response = await backend.execute(inbound)
      for (const unfilled of readUnfilled(response?.headers.get(UNFILLED_HEADER) ?? null)) {
        const text = describeUnfilled(unfilled)
        if (!noticed.has(text)) notice(text)
        noticed.add(text)
      }
      return response
    },
  }
}
