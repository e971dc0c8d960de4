// tier: all
/** The files that an image is built from exist and contain what they must. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import runtimes from '../../src/dev/release/package.json'

const ROOT = join(import.meta.dir, '..', '..')
const read = (name: string) => Bun.file(join(ROOT, name)).text()

test('the image is built by the Bun of the lockfile and contains only the executable', async () => {
  const dockerfile = await read('Dockerfile')
  const [, build = '', final = ''] = dockerfile.split(/^FROM /m)
  expect(build).toStartWith(`oven/bun:${runtimes.dependencies.bun} AS build`)
  const lines = final.split('\n')
  expect(lines.filter((line) => /^(RUN|ADD)\b/.test(line))).toEqual([])
  expect(lines.filter((line) => line.startsWith('COPY')).length).toBe(2)
  expect(lines).toContain('USER 65532:65532')
  expect(lines).toContain('EXPOSE 8000 8080')
  expect(lines.join('\n')).toMatch(/^HEALTHCHECK .* CMD \["cloakroom", "health"\]$/m)
  const [, volume] = /^VOLUME (\S+)$/m.exec(final) ?? []
  expect(final).toContain(`ENV HOST=0.0.0.0 DATA_DIR=${volume}`)
})

test('a .env file is never copied to the builder', async () => {
  const rules = (await read('.dockerignore')).split('\n').filter((line) => !line.startsWith('#'))
  expect(rules[0]).toBe('*')
  expect(rules.slice(1).filter((rule) => /env|^!\*/.test(rule))).toEqual([])
})
