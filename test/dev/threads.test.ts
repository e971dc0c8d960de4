// tier: all
/** A thread with its program outside the executable would start from source only. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { Glob } from 'bun'

const source = join(import.meta.dir, '../../src')

test("every thread's program is built into the executable", async () => {
  const started = new Set<string>()
  // Workers of the page are built by src/dev/console.ts, and start in browsers.
  const inBrowser = (file: string) =>
    file.startsWith('console/web/') || file.endsWith('.browser.ts')
  for await (const file of new Glob('**/*.ts').scan({ cwd: source })) {
    if (inBrowser(file)) continue
    const text = await Bun.file(join(source, file)).text()
    for (const [, path] of text.matchAll(/workerAddress\('([^']+)'\)/g)) started.add(`${path}.ts`)
    const isOther = file !== 'core/worker_address.ts' && /new Worker\((?!workerAddress)/.test(text)
    expect({ file, isOther }).toEqual({ file, isOther: false })
  }
  const build = await Bun.file(join(source, 'dev/build.ts')).text()
  const built = [...build.matchAll(/'([\w/]+worker\.ts)'/g)].map(([, path]) => path)
  expect(built.sort()).toEqual([...started].sort())
})
