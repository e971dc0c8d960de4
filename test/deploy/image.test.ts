// tier: all
/**
 * The image of the Dockerfile, built and run as a container engine would, without one: in a chroot on a root that
 * cannot be written, as its user, with no network but loopback. The base images themselves are not fetched.
 */
import { afterAll, expect } from 'bun:test'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import project from '../../package.json' with { type: 'json' }
import { linesOf, scriptOf } from '../docs/blocks.ts'
import { otherPython } from '../support/other_programs.ts'
import { requires } from '../support/requires.ts'
import { watched } from '../support/watched.ts'
import { buildImage, type Image } from './image.ts'
import { runImage } from './run_image.ts'

const place = mkdtempSync(join(tmpdir(), 'cr-image-'))
// Others may look in, as the user of the image is one.
chmodSync(place, 0o755)
afterAll(() => rmSync(place, { recursive: true, force: true }))

requires('python-venv').test(
  'hadolint finds nothing wrong with the Dockerfile',
  async () => {
    const python = await otherPython()
    const lint = (text: string) => {
      const { stdout, exitCode } = watched(
        Bun.spawnSync([join(python, '../hadolint'), '--no-color', '-'], {
          stdin: Buffer.from(text),
        }),
      )
      return { said: stdout.toString(), exitCode }
    }
    const text = readFileSync(join(import.meta.dir, '../../Dockerfile'), 'utf8')
    expect(lint(text)).toEqual({ said: '', exitCode: 0 })
    expect(lint(text.replace('--chown=65532:65532', '--chown')).exitCode).toBe(1)
    expect(lint(`${text}RUN sudo true\n`).said).toContain('DL3004')
  },
  120_000,
)

/**
 * The steps of docs/guides/containers.md: keys, a first start that generates its own, then a start with these keys in
 * files as Docker mounts them. `docker`, `in_container` and `server` are those of runImage.
 */
const LIFE = `
echo '>> version'; docker run --rm cloakroom version
echo '>> keygen'; docker run --rm cloakroom keygen | sed 's/=.*//'
${scriptOf('docs/guides/containers.md', 'run')}
echo '>> settings'; printf "$settings"
echo '>> health'; until_healthy
cd "$place/copies"
${scriptOf('docs/guides/containers.md', 'keys')}
echo '>> copied keys'; cmp keys.env $volume/keys.env && sed 's/=.*//' keys.env
cd /
echo '>> process'; grep -E '^(Uid|Gid|Groups|CapEff|NoNewPrivs)' /proc/$pid/status
echo '>> console'; curl -s -o /dev/null -w '%{http_code}\\n' http://127.0.0.1:8000/console/
echo '>> resolver'; curl -s http://127.0.0.1:8080/healthz -o /dev/null -w '%{http_code}\\n'
echo '>> root'; in_container cloakroom keygen --help >/dev/null; touch "$root/tmp/x" 2>&1 | sed 's/.*: //'
stop
echo '>> code'; echo $code
echo '>> volume'; (cd $volume && stat -c '%n %a %u' . keys.env)
echo '>> health when it does not serve'; in_container cloakroom health; echo $?

for name in SECRET_KEY ENCRYPTION_KEY; do
  sed -n "s/^$name=//p" $volume/keys.env >"$secrets/$name"
done
rm $volume/keys.env
chmod 644 $secrets/SECRET_KEY; chmod 440 $secrets/ENCRYPTION_KEY; chown 0:65532 $secrets/ENCRYPTION_KEY
export SECRET_KEY_FILE=/run/secrets/SECRET_KEY ENCRYPTION_KEY_FILE=/run/secrets/ENCRYPTION_KEY
server
echo '>> health with keys in files'; until_healthy
stop
echo '>> code with keys in files'; echo $code
echo '>> keys'; ls $volume/keys.env 2>/dev/null
echo '>> warnings'; grep '"level":"warning"' $log | sed 's/.*"message":"\\([^"]*\\).*/\\1/'
echo '>> writes'; grep -hE 'EROFS' $trace.* | grep -vE 'O_RDONLY|access' | cut -c 1-200
echo '>> end'
`

/** `docker build` of the documents, whose folder `.` is the repository. */
function build(): Promise<Image> {
  for (const [line, ...others] of [
    linesOf('docs/guides/containers.md', 'build'),
    linesOf('docs/start/install.md', 'docker'),
  ])
    expect([line, others]).toEqual(['docker build -t cloakroom .', []])
  return buildImage(place)
}

{
  const { describe, test, beforeAll } = requires(
    'network-namespaces',
    'dpkg',
    'git',
    'strace',
    'curl',
  )
  describe('built by its steps, and run read-only', () => {
    let image: Image
    let said: Record<string, string[]>
    beforeAll(async () => {
      image = await build()
      mkdirSync(join(place, 'copies'))
      said = await runImage(image, { place, script: LIFE })
    }, 240_000)

    test('it says what it is', () => {
      expect(image.labels).toEqual({
        'org.opencontainers.image.title': 'Cloakroom',
        'org.opencontainers.image.description': project.description.replace(/ for .*/, ''),
        'org.opencontainers.image.licenses': project.license,
      })
      expect(said.version?.[0]).toContain(project.version)
      expect(said.keygen).toEqual(['SECRET_KEY', 'ENCRYPTION_KEY', 'CRON_SECRET'])
    })

    test('HEALTHCHECK asks the executable, which knows when it serves', () => {
      expect(image.health).toEqual(['cloakroom', 'health'])
      expect(said.health).toEqual(['control plane  healthy', 'resolver       healthy'])
      expect(said['health when it does not serve']?.at(-1)).toBe('1')
      expect([said.console, said.resolver]).toEqual([['200'], ['200']])
    })

    test('the commands of the page start it with their limits, and copy its keys', () => {
      expect(said.settings).toEqual([
        'restart unless-stopped',
        'stop-timeout 40',
        'cap-drop ALL',
        'no-new-privileges',
        'publish 127.0.0.1:8000:8000',
        'publish 127.0.0.1:8080:8080',
      ])
      expect(image.ports).toEqual(['8000', '8080'])
      expect(said['copied keys']).toEqual(['SECRET_KEY', 'ENCRYPTION_KEY'])
    })

    test('it runs as a user that is a number and not root, without a capability', () => {
      expect(image.user).toMatch(/^[1-9]\d*:[1-9]\d*$/)
      const [uid = ''] = image.user.split(':')
      expect(said.process?.map((line) => line.split(/\s+/))).toEqual([
        ['Uid:', uid, uid, uid, uid],
        ['Gid:', uid, uid, uid, uid],
        ['Groups:', ''],
        ['CapEff:', '0000000000000000'],
        ['NoNewPrivs:', '1'],
      ])
    })

    test('nothing is written, nor tried to be, outside the volume', () => {
      expect(said.root).toEqual(['Read-only file system'])
      expect(said.writes).toEqual([])
      expect(said.volume).toEqual(['. 700 65532', 'keys.env 600 65532'])
    })

    test('its signal to stop ends it with 0', () => {
      expect(image.stopSignal).toBe('SIGTERM')
      expect(said.code).toEqual(['0'])
    })

    test('keys move from the volume into files, and one that every user can read is warned of', () => {
      expect(said['health with keys in files']).toEqual(said.health ?? [])
      expect(said['code with keys in files']).toEqual(['0'])
      expect(said.keys).toEqual([])
      expect(said.warnings).toEqual([
        'SECRET_KEY_FILE: every user of this machine can read /run/secrets/SECRET_KEY (chmod o-r)',
      ])
    })
  })
}
