/** The operating system's keyring, through its own program: Secret Service or macOS Keychain. */

export type Keyring = {
  name: string
  read(): Promise<string | null>
  write(text: string): Promise<void>
  clear(): Promise<void>
}

const SERVICE = 'cloakroom'

/** The keyring that works here, or `null`; `account` names the entry in it. */
export async function openKeyring(
  env: Record<string, string | undefined>,
  account: string,
): Promise<Keyring | null> {
  if (process.platform === 'darwin' && Bun.which('security')) return macKeychain(account)
  if (env.DBUS_SESSION_BUS_ADDRESS && Bun.which('secret-tool')) {
    const keyring = secretService(account)
    return (await works(keyring)) ? keyring : null
  }
  return null
}

async function works(keyring: Keyring): Promise<boolean> {
  try {
    await keyring.read()
    return true
  } catch {
    return false
  }
}

function secretService(account: string): Keyring {
  const key = ['service', SERVICE, 'account', account]
  return {
    name: 'the Secret Service keyring',
    read: async () => {
      const { code, out, err } = await run(['secret-tool', 'lookup', ...key])
      // A missing entry is silent; a keyring that is locked or absent complains.
      if (code !== 0 && err !== '') throw new Error('the keyring does not answer')
      return code === 0 && out !== '' ? out : null
    },
    write: async (text) => {
      const { code } = await run(
        ['secret-tool', 'store', '--label=Cloakroom session', ...key],
        text,
      )
      if (code !== 0) throw new Error('the keyring did not take the session')
    },
    clear: async () => {
      await run(['secret-tool', 'clear', ...key])
    },
  }
}

function macKeychain(account: string): Keyring {
  const key = ['-s', SERVICE, '-a', account]
  return {
    name: 'the macOS keychain',
    read: async () => {
      const { code, out } = await run(['security', 'find-generic-password', ...key, '-w'])
      return code === 0 ? Buffer.from(out.trim(), 'base64').toString() : null
    },
    write: async (text) => {
      // `-i` reads the command from standard input: arguments would be visible to other processes.
      const encoded = Buffer.from(text).toString('base64')
      const { code } = await run(
        ['security', '-i'],
        `add-generic-password -U ${key.join(' ')} -w ${encoded}\n`,
      )
      if (code !== 0) throw new Error('the keychain did not take the session')
    },
    clear: async () => {
      await run(['security', 'delete-generic-password', ...key])
    },
  }
}

async function run(
  command: string[],
  input = '',
): Promise<{ code: number; out: string; err: string }> {
  const child = Bun.spawn(command, { stdin: new Blob([input]), stdout: 'pipe', stderr: 'pipe' })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, out, err }
}
