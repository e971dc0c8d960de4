/** A person who connects secrets to the fake provider, with a browser that follows every address. */
import { startTestApp, type TestApp } from '../support/app.ts'
import { loopbackFetch, openInBrowser, type ShownPage } from '../support/oauth/browser.ts'
import { type FakeProvider, startProvider } from '../support/oauth/provider.ts'
import { openAccount, type Run, type Terminal } from './person.ts'

export type ConnectStage = {
  app: TestApp
  ada: Terminal
  provider: FakeProvider
  /** The page that each browser ended on. */
  pages: Promise<ShownPage>[]
  /** Runs `cloakroom connect …` with the client's secret on standard input. */
  connect(args: readonly string[], options?: { browse?: (url: string) => void }): Promise<Run>
  /** The options of the fake provider's own client. */
  given: readonly string[]
  /** The stored root. */
  root(name: string): Promise<Record<string, unknown>>
  stop(): Promise<void>
}

export async function openConnectStage(): Promise<ConnectStage> {
  const app = await startTestApp()
  const provider = await startProvider()
  const ada = await openAccount(app, 'ada@example.com')
  await ada.must('init', 'payments')
  const pages: Promise<ShownPage>[] = []
  const fetcher = loopbackFetch(provider.certificate)
  const open = (url: string) => {
    const page = openInBrowser(url, fetcher)
    page.catch(() => {})
    pages.push(page)
  }
  return {
    app,
    ada,
    provider,
    pages,
    connect: (args, { browse = open } = {}) =>
      ada.run([args[0] === 'secrets' ? '' : 'connect', ...args].filter(Boolean), {
        stdin: provider.clientSecret,
        providers: { providerFetch: fetcher as never, openBrowser: browse },
      }),
    given: [
      '--authorize-url',
      `${provider.url}/auth`,
      '--token-url',
      provider.tokenUrl,
      '--client-id',
      provider.clientId,
      '--client-secret-stdin',
      '--scope',
      'openid offline_access api',
      '--redirect-uri',
      'http://127.0.0.1:28976/callback',
      '--parameter',
      'prompt=consent',
      '--wait',
      '5s',
      '--domains',
      'api.example.com',
    ],
    root: async (name) => JSON.parse(await ada.reveal('secrets', 'get', name)),
    stop: async () => {
      ada.remove()
      await provider.stop()
      await app.stop()
    },
  }
}
