/** The documentation of the API, served by both listeners. */
import { defineEndpoint } from '../../http/endpoint.ts'

const path = '/api/docs/'

export const getPage = defineEndpoint({
  name: 'docs.page',
  summary: 'Get the API documentation',
  method: 'GET',
  path,
  access: { kind: 'public' },
  mediaType: 'text/html',
})

export const getDocument = defineEndpoint({
  name: 'docs.document',
  summary: 'Get the OpenAPI document of both listeners',
  method: 'GET',
  path: `${path}json`,
  access: { kind: 'public' },
  bare: true,
})

/** For the page: its policy lets it send to the listener that it came from, and nowhere else. */
export const getOwnDocument = defineEndpoint({
  ...getDocument,
  name: 'docs.own_document',
  summary: 'Get the OpenAPI document of this listener',
  path: `${path}own.json`,
})

export const getScript = defineEndpoint({
  name: 'docs.script',
  summary: 'Get the script of the documentation page',
  method: 'GET',
  path: `${path}swagger-ui.js`,
  access: { kind: 'public' },
  mediaType: 'text/javascript',
})

export const getStyle = defineEndpoint({
  name: 'docs.style',
  summary: 'Get the stylesheet of the documentation page',
  method: 'GET',
  path: `${path}swagger-ui.css`,
  access: { kind: 'public' },
  mediaType: 'text/css',
})
