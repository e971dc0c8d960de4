/**
 * postgres.js 3.4.9 wrote ROLLBACK to a connection that was gone, which ended the whole process. The
 * patch in .patches/ makes it an ordinary error; this test fails where it was not applied.
 */
import { expect, test } from 'bun:test'
import { fileURLToPath } from 'node:url'

test('the driver knows that a connection may be gone when it writes', async () => {
  const driver = fileURLToPath(import.meta.resolve('postgres'))
  const text = await Bun.file(driver.replace(/index\.js$/, 'connection.js')).text()
  expect(text).toMatch(/function nextWrite\(fn\) \{\s+if \(!socket\)/)
})
