/** Waits until a screen has all data that it asks for. */
import type { Page, Request } from 'playwright-core'
import { until } from '../support/until.ts'
import type { Visitor } from './browser.ts'

/** Loading marks, and rows that stand for those to come. */
const LOADING = '[data-loading], [role="status"][aria-label="Loading"], [aria-busy="true"]'
/** An answer may lead to the next request. */
const QUIET_POLLS = 5
const POLL_MS = 40

/** Requests without an answer, except the stream of live requests, which stays open. */
export function watchRequests({ page }: Pick<Visitor, 'page'>): ReadonlySet<Request> {
  const pending = new Set<Request>()
  const context = page.context()
  context.on('request', (request) => {
    if (!/\/live\/(\?|$)/.test(request.url())) pending.add(request)
  })
  // Requests of a closed tab get no answer.
  context.on('page', (other) => other.on('close', () => pending.clear()))
  context.on('requestfinished', (request) => pending.delete(request))
  context.on('requestfailed', (request) => pending.delete(request))
  return pending
}

/** @param pending what {@link watchRequests} returned */
export async function settle(page: Page, pending: ReadonlySet<Request>): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  let quiet = 0
  const isQuiet = async () => {
    const isLoading = await page.evaluate(
      (marks) =>
        document.fonts.status !== 'loaded' ||
        [...document.querySelectorAll(marks)].some((mark) => mark.checkVisibility()),
      LOADING,
    )
    quiet = pending.size === 0 && !isLoading ? quiet + 1 : 0
    return quiet === QUIET_POLLS
  }
  await until(isQuiet, { stepMs: POLL_MS })
}
