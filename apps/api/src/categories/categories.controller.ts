import { AddCategory, GetCategory, ListCategories, NameCategory, RemoveCategory } from '@adoption-store/domain';
import { Controller, Delete, Get, HttpCode, Param, Post, Put, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiContext } from '../http/api-context.js';
import { Idempotency } from '../idempotency/idempotency.js';
import { IfMatch, isOnlyIfNone } from '../http/conditions.js';
import { JsonBody } from '../http/json-body.decorator.js';
import { addPageHeaders } from '../http/pages.js';
import { RequiresScope } from '../http/required-scope.js';
import { Stability } from '../http/stability.js';
import { ValidQuery } from '../http/valid-query.decorator.js';
import { pathId } from '../http/validation.js';
import { CATEGORIES_CURSOR, ListCategoriesQuery } from './list-categories.query.js';
import { NewCategoryBody } from './new-category.body.js';
import { categoryTag, presentCategories, presentCategory } from './present-category.js';

const CATEGORY_ID = pathId('categoryId');

@Controller('v1/categories')
@Stability('beta')
export class CategoriesController {
  constructor(
    private readonly context: ApiContext,
    private readonly idempotency: Idempotency,
    private readonly listCategories: ListCategories,
    private readonly addCategory: AddCategory,
    private readonly getCategory: GetCategory,
    private readonly nameCategory: NameCategory,
    private readonly removeCategory: RemoveCategory,
  ) {}

  @Get()
  @RequiresScope('pets:read')
  async list(
    @ValidQuery(ListCategoriesQuery) query: ListCategoriesQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const { items, next } = await this.listCategories.execute(query);
    const body = presentCategories(items);
    addPageHeaders(request, reply, { address: this.url(request), query, resource: CATEGORIES_CURSOR, body, next });
    return body;
  }

  @Post()
  @RequiresScope('pets:write')
  async add(
    @JsonBody(NewCategoryBody) body: NewCategoryBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    return this.idempotency.once(request, reply, async (transaction) => {
      const category = await this.addCategory.execute(body, transaction);
      return { body: presentCategory(category), location: `${this.url(request)}/${category.id}` };
    });
  }

  @Get(':categoryId')
  @RequiresScope('pets:read')
  async get(
    @Param('categoryId', CATEGORY_ID) id: bigint,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const category = await this.getCategory.execute(id);
    reply.header('etag', categoryTag(category));
    return presentCategory(category);
  }

  @Put(':categoryId')
  @RequiresScope('pets:write')
  async name(
    @Param('categoryId', CATEGORY_ID) id: bigint,
    @JsonBody(NewCategoryBody) { name }: NewCategoryBody,
    @IfMatch() wanted: readonly string[] | undefined,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    // With any If-Match, also `*`, there must be a category.
    const there = request.headers['if-match'] === undefined ? undefined : (wanted ?? 'any');
    const versions = isOnlyIfNone(request) ? 'none' : there;
    const { category, isNew } = await this.nameCategory.execute({ id, name, versions });
    reply.header('etag', categoryTag(category));
    if (isNew) reply.code(201).header('location', `${this.url(request)}/${id}`);
    return presentCategory(category);
  }

  @Delete(':categoryId')
  @HttpCode(204)
  @RequiresScope('pets:write')
  async remove(
    @Param('categoryId', CATEGORY_ID) id: bigint,
    @IfMatch() versions: readonly string[] | undefined,
  ): Promise<void> {
    await this.removeCategory.execute({ id, versions });
  }

  private url(request: FastifyRequest): string {
    return `${this.context.origin(request)}/v1/categories`;
  }
}
