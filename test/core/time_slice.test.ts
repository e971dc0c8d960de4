// tier: quick
import { expect, test } from 'bun:test'
import { runInSlices } from '../../src/core/async/time_slice.ts'

/** Five steps, each of which takes a slice. */
async function work(): Promise<number> {
  let done = 0
  await runInSlices(Array(5), () => {
    const end = performance.now() + 5
    while (performance.now() < end);
    done += 1
  })
  return done
}

test('work continues after a slice also in a browser, which has no setImmediate', async () => {
  const { setImmediate: own } = globalThis
  expect(await work()).toBe(5)
  Reflect.deleteProperty(globalThis, 'setImmediate')
  try {
    expect(await work()).toBe(5)
  } finally {
    globalThis.setImmediate = own
  }
})
