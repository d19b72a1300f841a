import type { H3 } from 'h3'
import type { Logger } from 'pino'
import type { ServerRequest } from 'srvx'
import { notFound } from '../../model/errors.ts'
import { lazy } from '../../model/lazy.ts'
import type { Compression } from '../compression.ts'
import { publicText, respondWithText, type PublicText } from '../public-text.ts'
import { originOf } from '../request-target.ts'
import type { DocumentSource } from './source.ts'
import type { OpenApiDocument } from './types.ts'

const documentModule = lazy(() => import('./document.ts'))
const llmsModule = lazy(() => import('./llms.ts'))

interface Made {
  readonly document: OpenApiDocument
  /** the document as JSON */
  readonly text: PublicText
}

/** The document, with its text. It is made when it is first asked for: a start should not wait for it. */
export class ReferenceDocument {
  readonly #source: () => DocumentSource
  #made: Promise<Made> | undefined
  #madeFor: string | undefined

  /** @param source what it is made from; another policy makes another document */
  constructor(source: () => DocumentSource) {
    this.#source = source
  }

  async document(): Promise<OpenApiDocument> {
    return (await this.#make()).document
  }

  /** The document as JSON. */
  async text(): Promise<PublicText> {
    return (await this.#make()).text
  }

  #make(): Promise<Made> {
    const source = this.#source()
    if (this.#made === undefined || this.#madeFor !== source.engine.hash) {
      this.#madeFor = source.engine.hash
      this.#made = this.#create(source)
    }
    return this.#made
  }

  async #create(source: DocumentSource): Promise<Made> {
    const { createDocument } = await documentModule()
    const document = createDocument(source)
    return { document, text: publicText('application/json; charset=utf-8', JSON.stringify(document)) }
  }
}

/**
 * `GET /openapi.json` and `GET /llms.txt`, outside /v1 and without a token: what an agent needs besides the base URL and a token.
 * @param origin the public origin; undefined: that of each request
 */
export function serveDocument(
  h3: H3,
  log: Logger,
  reference: ReferenceDocument,
  origin: string | undefined,
  compression: Compression,
): void {
  const serve = (path: string, find: (request: ServerRequest) => Promise<PublicText>) =>
    h3.all(path, async ({ req, url }) => {
      const found = () => (url.pathname === path ? find(req) : Promise.reject(notFound()))
      return compression.apply(req, await respondWithText(log, req, found))
    })
  serve('/openapi.json', () => reference.text())
  serve('/llms.txt', async (request) => {
    const { createLlmsText } = await llmsModule()
    return publicText('text/plain; charset=utf-8', createLlmsText(await reference.document(), originOf(request, origin)))
  })
}
